"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const shown = id => { $(id).hidden = false; return $(id); };
const put = (parent, tag, text = "", attributes = {}) => {
    const e = document.createElement(tag);
    e.textContent = text;
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    return parent.appendChild(e);
};
/* list: [name, value, class] of each figure at the head of the page. */
const headline = list => {
    for (const [name, value, kind = ""] of list) {
        const card = put($("headline"), "div", "", { class: "figure " + kind, "data-name": name });
        put(card, "b", value);
        put(card, "span", name);
    }
};
/* head: the names of columns; without, the first column names the rows. */
const table = (parent, head, rows) => {
    const t = put(put(parent, "div", "", { class: head ? "scroll" : "" }), "table");
    if (head) { const r = put(t, "tr"); head.forEach(c => put(r, "th", c)); }
    for (const row of rows) { const r = put(t, "tr"); row.forEach(c => put(r, "td", c)); }
    return t;
};

/* ---- charts, in SVG ---- */
const draw = (parent, tag, attributes, text = "") => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    e.textContent = text;
    return parent.appendChild(e);
};
const plot = (parent, width, height) => draw(parent, "svg", { viewBox: `0 0 ${width} ${height}` });
const colours = ["#3b7dd8", "#d9822b", "#3a9a5b", "#8a63c9", "#c94f7c", "#2a9aa0", "#9a8a3a"];
const colour = index => colours[index % colours.length];
/* kind: "soft", "ink" or "title"; of lines "axis" or "mark"; of boxes "bar", "late". */
const label = (svg, x, y, text, anchor = "start", kind = "soft") =>
    draw(svg, "text", { class: kind, x, y, "text-anchor": anchor }, text);
const line = (svg, kind, d) => draw(svg, "path", { class: kind, d });
const box = (svg, x, y, width, height, tip, look) => draw(draw(svg, "rect", { x, y, width, height, ...look }), "title", {}, tip);
/* 1, 2 or 5 times a power of ten, such that a span has about `ticks` of them. */
const step = (span, ticks) => {
    const rough = span / ticks, power = 10 ** Math.floor(Math.log10(rough)), lead = rough / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
};
const digits_of = by => Math.max(0, Math.ceil(-Math.log10(by) - 1e-9));
/* Draws a linear axis from 0 to high, with its unit below, and returns where values lie. */
const axis = (svg, width, height, high, unit) => {
    const s = { left: 52, right: width - 8, top: 12, bottom: height - 26 }, top = high || 1, by = step(top, 4);
    s.y = v => s.bottom - (s.bottom - s.top) * v / top;
    for (let v = 0; v <= top * 1.0001; v += by) {
        line(svg, "axis", `M${s.left} ${s.y(v)}H${s.right}`);
        label(svg, s.left - 6, s.y(v) + 4, v.toFixed(digits_of(by)), "end");
    }
    label(svg, s.left, height - 6, unit);
    return s;
};
