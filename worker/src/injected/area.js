// Areas of image maps: they have no box of their own, and are where their picture shows them.

// The picture that uses the map an area belongs to.
function pictureOf(el) {
  const map = nearest(el, (node) => G.localName(node) === 'map');
  const name = map && attribute(map, 'name');
  if (!name) return null;
  return M.queryAll(M.getRootNode(el), 'img[usemap="#' + CSS.escape(name) + '"]')[0] || null;
}

// The area's extent in the viewport, as one box.
function areaBoxes(el) {
  const picture = pictureOf(el);
  if (!picture) return [];
  const whole = box(picture);
  const numbers = (attribute(el, 'coords') || '')
    .split(/[\s,;]+/)
    .map(Number.parseFloat)
    .filter(Number.isFinite)
    .slice(0, 256);
  const shape = (attribute(el, 'shape') || 'rect').toLowerCase();
  if (shape === 'default' || numbers.length < 3) return [whole];
  let [left, top, right, bottom] = numbers;
  if (shape.startsWith('circ')) {
    const [x, y, radius] = numbers;
    [left, top, right, bottom] = [x - radius, y - radius, x + radius, y + radius];
  } else if (shape.startsWith('poly')) {
    const xs = numbers.filter((_, at) => at % 2 === 0);
    const ys = numbers.filter((_, at) => at % 2 === 1);
    [left, top, right, bottom] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }
  const x = whole.left + G.clientLeft(picture);
  const y = whole.top + G.clientTop(picture);
  return [new DOMRect(x + left, y + top, right - left, bottom - top)];
}
