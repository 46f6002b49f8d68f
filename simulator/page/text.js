import { el } from './dom.js';
import { mrkdwn } from './mrkdwn.js';
import { bot, channel, me, person } from './world.js';

export const plain = (text) => (text ? (text.emoji === false ? text.text : withEmoji(text.text ?? '')) : '');

/** A text object (or a bare string) as an element. */
export function textNode(text, tag = 'div', name = 'text') {
  if (text === undefined || text === null) return undefined;
  if (typeof text === 'string') return el(tag, { class: name }, withEmoji(text));
  if (text.type === 'mrkdwn') return el(tag, { class: `${name} mrkdwn` }, ...mrkdwn(text.text ?? ''));
  return el(tag, { class: name }, plain(text));
}

// The shortcodes a bot is likely to use. Others are shown as they were written.

const common = `
white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|negative_squared_cross_mark ❎|warning ⚠️|no_entry ⛔|no_entry_sign 🚫
octagonal_sign 🛑|rotating_light 🚨|bell 🔔|no_bell 🔕|mega 📣|loudspeaker 📢|information_source ℹ️|question ❓|grey_question ❔
exclamation ❗|grey_exclamation ❕|bangbang ‼️|red_circle 🔴|large_orange_circle 🟠|large_yellow_circle 🟡|large_green_circle 🟢|large_blue_circle 🔵
large_purple_circle 🟣|white_circle ⚪|black_circle ⚫|large_red_square 🟥|large_green_square 🟩|large_orange_square 🟧|large_yellow_square 🟨
small_red_triangle 🔺|small_red_triangle_down 🔻|arrow_up ⬆️|arrow_down ⬇️|arrow_right ➡️|arrow_left ⬅️|arrow_upper_right ↗️|arrow_lower_right ↘️
arrows_counterclockwise 🔄|arrows_clockwise 🔃|repeat 🔁|leftwards_arrow_with_hook ↩️|back 🔙|heavy_plus_sign ➕|heavy_minus_sign ➖
chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|bar_chart 📊|clipboard 📋|memo 📝|pencil ✏️|pencil2 ✏️|page_facing_up 📄|file_folder 📁
open_file_folder 📂|card_index_dividers 🗂️|card_file_box 🗃️|wastebasket 🗑️|paperclip 📎|link 🔗|pushpin 📌|round_pushpin 📍|bookmark 🔖|label 🏷️
key 🔑|old_key 🗝️|lock 🔒|unlock 🔓|closed_lock_with_key 🔐|shield 🛡️|gear ⚙️|wrench 🔧|hammer 🔨|hammer_and_wrench 🛠️|nut_and_bolt 🔩|toolbox 🧰
globe_with_meridians 🌐|earth_africa 🌍|earth_americas 🌎|earth_asia 🌏|satellite 🛰️|satellite_antenna 📡|rocket 🚀|package 📦|truck 🚚|zap ⚡
fire 🔥|boom 💥|snowflake ❄️|cloud ☁️|sunny ☀️|droplet 💧|ocean 🌊|seedling 🌱|herb 🌿|evergreen_tree 🌲|construction 🚧|ambulance 🚑
hourglass ⌛|hourglass_flowing_sand ⏳|stopwatch ⏱️|alarm_clock ⏰|clock1 🕐|clock3 🕒|clock9 🕘|calendar 📆|date 📅|spiral_calendar_pad 🗓️
mag 🔍|mag_right 🔎|eyes 👀|eye 👁️|bulb 💡|books 📚|book 📖|newspaper 📰|email ✉️|envelope ✉️|incoming_envelope 📨|inbox_tray 📥|outbox_tray 📤
wave 👋|thumbsup 👍|+1 👍|thumbsdown 👎|-1 👎|ok_hand 👌|clap 👏|raised_hands 🙌|pray 🙏|muscle 💪|point_right 👉|point_down 👇|hand ✋|raised_hand ✋
smile 😄|slightly_smiling_face 🙂|blush 😊|wink 😉|joy 😂|thinking_face 🤔|sweat_smile 😅|sob 😭|scream 😱|sunglasses 😎|tada 🎉|confetti_ball 🎊
sparkles ✨|star ⭐|star2 🌟|trophy 🏆|medal 🏅|heart ❤️|green_heart 💚|blue_heart 💙|robot_face 🤖|ghost 👻|skull 💀|bug 🐛|snail 🐌|turtle 🐢
house 🏠|office 🏢|factory 🏭|computer 💻|desktop_computer 🖥️|keyboard ⌨️|floppy_disk 💾|minidisc 💽|cd 💿|iphone 📱|telephone_receiver 📞|electric_plug 🔌
battery 🔋|moneybag 💰|dollar 💵|euro 💶|credit_card 💳|receipt 🧾|busts_in_silhouette 👥|bust_in_silhouette 👤|speech_balloon 💬|thought_balloon 💭
zzz 💤|pause_button ⏸️|double_vertical_bar ⏸️|arrow_forward ▶️|black_square_for_stop ⏹️|fast_forward ⏩|rewind ⏪|heavy_multiplication_x ✖️
new 🆕|see_no_evil 🙈|zipper_mouth_face 🤐|hash #️⃣|one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|keycap_ten 🔟|checkered_flag 🏁|triangular_flag_on_post 🚩|compass 🧭|world_map 🗺️|microscope 🔬`;

const byName = new Map(
  common
    .trim()
    .split(/[|\n]/)
    .map((pair) => pair.trim().split(' ')),
);

/** The picture for a shortcode, without its colons; undefined where this page does not know it. */
export const emoji = (name) => byName.get(name.toLowerCase().replace(/::skin-tone-\d$/, ''));

/** Replaces known `:shortcodes:` in plain text. */
export const withEmoji = (text) =>
  text.replaceAll(/:([a-z0-9_+'-]+):/gi, (whole, name) => emoji(name) ?? whole);

/** A link that opens elsewhere; an address that is not http(s) or mail is shown as text, so that it cannot run. */
export function link(address, label) {
  const safe = /^(https?:|mailto:)/i.test(address) || address.startsWith('/ui/files/');
  if (!safe) return el('span', { class: 'dead-link', title: address }, label ?? address);
  return el('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, label ?? address);
}

const chip = (kind, text) => el('span', { class: `mention ${kind}` }, text);

/** `@U…`, `#C…`, `!here`, `!subteam^S…` as people read them. */
export function mention(target, label) {
  const id = target.slice(1);
  const name = id === bot().id ? bot().name : person(id)?.name;
  if (target[0] === '@') return chip(id === me()?.id ? 'mine' : '', `@${name ?? label ?? id}`);
  if (target[0] === '#') return chip('', `#${channel(id)?.name ?? label ?? id}`);
  if (id.startsWith('subteam^')) return chip('', label ?? `@${id.slice('subteam^'.length)}`);
  return chip('mine', `@${label ?? id}`);
}
