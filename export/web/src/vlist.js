// A list that holds any number of rows and shows those in sight.
import { el } from "./dom.js";

const rowHeight = 26; // pixels, as in the style
const spare = 8; // rows above and below
const tallest = 15e6; // pixels: browsers bound the height of an element

export class VirtualList {
  // box scrolls; draw(i) makes the row of element i; pick(i) is told of a choice.
  constructor(box, draw, pick) {
    this.box = box;
    this.draw = draw;
    this.pick = pick;
    this.rows = [];
    this.at = -1;
    this.first = this.last = -1;
    this.pad = el("div", "pad");
    this.sheet = el("div", "sheet");
    this.pad.append(this.sheet);
    box.replaceChildren(this.pad);
    this.onscroll = () => this.paint(false);
    box.addEventListener("scroll", this.onscroll, { passive: true });
    this.onclick = (e) => {
      const row = e.target.closest(".row");
      if (row && row.dataset.at !== undefined) this.choose(Number(row.dataset.at), true);
    };
    this.sheet.addEventListener("click", this.onclick);
  }

  close() {
    this.box.removeEventListener("scroll", this.onscroll);
  }

  // show lists other elements.
  show(rows) {
    this.rows = rows;
    this.at = -1;
    this.pad.style.height = Math.min(rows.length * rowHeight, tallest) + "px";
    this.box.scrollTop = 0;
    this.paint(true);
  }

  // scale is how many pixels of rows one pixel of scrolling stands for.
  scale() {
    const all = this.rows.length * rowHeight;
    const room = Math.max(1, Math.min(all, tallest) - this.box.clientHeight);
    return Math.max(1, (all - this.box.clientHeight) / room);
  }

  paint(all) {
    const top = this.box.scrollTop * this.scale();
    const first = Math.max(0, Math.floor(top / rowHeight) - spare);
    const last = Math.min(this.rows.length, Math.ceil((top + this.box.clientHeight) / rowHeight) + spare);
    if (!all && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    const rows = [];
    for (let k = first; k < last; k++) {
      const row = this.draw(this.rows[k]);
      row.classList.add("row");
      row.dataset.at = k;
      if (k === this.at) row.classList.add("chosen");
      rows.push(row);
    }
    this.sheet.replaceChildren(...rows);
    this.sheet.style.transform = "translateY(" + (this.box.scrollTop + first * rowHeight - top) + "px)";
  }

  choose(k, byHand) {
    if (k < 0 || k >= this.rows.length) return;
    this.at = k;
    const top = this.box.scrollTop * this.scale();
    if (!byHand || k * rowHeight < top || (k + 1) * rowHeight > top + this.box.clientHeight) {
      if (k * rowHeight < top) this.box.scrollTop = (k * rowHeight) / this.scale();
      else if ((k + 1) * rowHeight > top + this.box.clientHeight) {
        this.box.scrollTop = ((k + 1) * rowHeight - this.box.clientHeight) / this.scale();
      }
    }
    this.paint(true);
    this.pick(this.rows[k]);
  }

  move(n) {
    this.choose(Math.max(0, Math.min(this.rows.length - 1, this.at + n)), false);
  }

  // go chooses an element.
  go(row) {
    const k = this.rows.indexOf(row);
    if (k >= 0) this.choose(k, false);
    return k >= 0;
  }
}
