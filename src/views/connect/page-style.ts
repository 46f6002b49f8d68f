/** The page's whole look. One constant, because the page's security policy names it by its hash. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f6; --card: #ffffff; --line: #e2e4e9; --text: #16181d; --soft: #5a606b;
  --accent: #1d4ed8; --accent-text: #ffffff; --ring: #93b4ff;
  --bad: #b42318; --bad-ground: #fef3f2; --bad-line: #f6c9c4;
  --good: #05603a; --good-ground: #ecfdf3; --good-line: #a9e4c4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1014; --card: #181b21; --line: #2c313a; --text: #eceef2; --soft: #a2a9b5;
    --accent: #7ea6ff; --accent-text: #0b1220; --ring: #3d5fb3;
    --bad: #ffb4ab; --bad-ground: #33191a; --bad-line: #5f2b2b;
    --good: #86e0af; --good-ground: #10291d; --good-line: #1f5138;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 24px 16px;
  display: flex; align-items: center; justify-content: center;
  background: var(--ground); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main {
  width: 100%; max-width: 460px; padding: 32px;
  background: var(--card); border: 1px solid var(--line); border-radius: 16px;
  box-shadow: 0 1px 2px rgb(16 24 40 / 6%), 0 12px 32px -12px rgb(16 24 40 / 18%);
}
.name { margin: 0 0 20px; display: flex; align-items: center; gap: 9px; color: var(--soft); font-size: 14px; font-weight: 600; }
.name::before {
  content: ""; width: 22px; height: 22px; border-radius: 7px;
  background: linear-gradient(135deg, #2563eb, #7c3aed);
}
h1 { margin: 0 0 10px; font-size: 24px; line-height: 1.25; letter-spacing: -.01em; }
p { margin: 0 0 14px; overflow-wrap: anywhere; }
p:last-child { margin-bottom: 0; }
.soft { color: var(--soft); font-size: 14px; }
.who { margin: 18px 0; padding: 12px 14px; border: 1px solid var(--line); border-radius: 10px; }
.who span { display: block; color: var(--soft); font-size: 13px; }
.who strong { overflow-wrap: anywhere; }
.note { margin: 18px 0; padding: 12px 14px; border: 1px solid; border-radius: 10px; }
.note strong { display: block; }
.bad { color: var(--bad); background: var(--bad-ground); border-color: var(--bad-line); }
.good { color: var(--good); background: var(--good-ground); border-color: var(--good-line); }
form { margin: 18px 0 14px; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input {
  width: 100%; min-height: 48px; padding: 10px 14px; border: 1px solid var(--soft); border-radius: 10px;
  background: var(--card); color: var(--text); font: inherit;
}
input[aria-invalid="true"] { border-color: var(--bad); }
.hint { margin: 6px 0 18px; color: var(--soft); font-size: 14px; }
button, .button {
  display: block; width: 100%; min-height: 48px; padding: 11px 18px; border: 0; border-radius: 10px;
  background: var(--accent); color: var(--accent-text); font: inherit; font-weight: 600;
  text-align: center; text-decoration: none; cursor: pointer;
}
button:hover, .button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; }
code { white-space: nowrap; padding: 1px 6px; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); font: 14px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
ul { margin: 0 0 14px; padding-left: 20px; }
li { margin-bottom: 6px; }
@media (max-width: 480px) {
  body { align-items: flex-start; padding: 12px; }
  main { padding: 24px 20px; border-radius: 14px; }
}
`;
