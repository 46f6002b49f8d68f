// How the page itself looks: light or dark, and as wide as a phone. Remembered in this browser.

const read = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};
const write = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing forgets the look on reload.
  }
};

export function createLook(changed) {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const phone = () => document.body.classList.contains('phone');
  if (read('theme')) root.dataset.theme = read('theme');
  document.body.classList.toggle('phone', read('width') === 'phone');
  system.addEventListener('change', changed);
  return {
    dark,
    phone,
    flipDark() {
      root.dataset.theme = dark() ? 'light' : 'dark';
      write('theme', root.dataset.theme);
      changed();
    },
    flipPhone() {
      document.body.classList.toggle('phone');
      write('width', phone() ? 'phone' : 'desktop');
      changed();
    },
  };
}
