'use strict';
/*
 * Blocks are columns of numbers, sorted by their start. Each frame writes the pixels of the visible blocks into one image. A block that
 * is narrower than a pixel is drawn as one pixel, so that no block disappears at any zoom.
 */
const picture = (() => {
  const element = document.getElementById('data');
  const blocks = element.dataset.kind === 'dump' ? ofDump(JSON.parse(element.textContent)) : ofTrace(JSON.parse(element.textContent));
  blocks.count = blocks.starts.length;
  element.textContent = '';
  const canvas = document.querySelector('#blocks canvas');
  const context = canvas.getContext('2d', {alpha: false});
  const tip = document.getElementById('tip');
  const whole = {t0: 0, t1: blocks.end, a0: 0, a1: blocks.top};
  let view = {...whole};
  let image;
  let pixels;
  let asked = false;

  function numbers(text) {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) {
      bytes[i] = raw.charCodeAt(i);
    }
    return new Uint32Array(bytes.buffer);
  }

  /** Reads the blocks of a trace. Owners are indexes of few names. The function tell keeps the columns, but not their text. */
  function ofTrace(data) {
    const starts = numbers(data.starts);
    const ends = numbers(data.ends);
    const owners = data.owners ? numbers(data.owners) : null;
    const names = data.ownerNames;
    const ownerOf = i => owners && names[owners[i]] ? `, ${names[owners[i]]}` : '';
    return {
      starts, ends,
      offsets: numbers(data.offsets), sizes: numbers(data.sizes), unit: data.granuleBytes,
      end: data.operations, top: data.regionBytes / data.granuleBytes, moments: data.moments, free: data.free,
      largestFree: data.largestFree, colours: null,
      tell: (i, place) => `block ${(i + 1).toLocaleString('en')}: ${place}, operations ${starts[i].toLocaleString('en')} to ${
        ends[i].toLocaleString('en')}${ownerOf(i)}`
    };
  }

  /** Reads the blocks of a dump. Regions are stacked, and blocks in use or in limbo take the whole width of the page. */
  function ofDump(dump) {
    const unit = 256;
    const all = dump.blocks.filter(block => block.state !== 'free');
    const sites = new Map((dump.holders || []).filter(holder => holder.site).map(holder => [holder.address, holder.site]));
    const regions = dump.regions.map(region => ({address: BigInt(region.address), size: region.sizeBytes}));
    let top = 0;
    for (const region of regions) {
      region.from = top;
      top += Math.ceil(region.size / unit);
    }
    const offsets = new Float64Array(all.length);
    const sizes = new Float64Array(all.length);
    const names = [];
    all.forEach((block, i) => {
      const address = BigInt(block.address);
      const region = regions.find(each => address >= each.address && address < each.address + BigInt(each.size)) || regions[0];
      offsets[i] = region.from + Number((address - region.address) / BigInt(unit));
      sizes[i] = Math.ceil(block.sizeBytes / unit);
      const site = block.site || sites.get(block.address);
      names.push(`${block.address}, ${block.state}${site ? `, ${site}` : ''}`);
    });
    const largest = dump.blocks.filter(block => block.state === 'free').reduce((most, block) => Math.max(most, block.sizeBytes), 0);
    const free = dump.blocks.filter(block => block.state === 'free').reduce((sum, block) => sum + block.sizeBytes, 0);
    return {
      starts: new Uint32Array(all.length), ends: new Uint32Array(all.length).fill(1), offsets, sizes, unit,
      end: 1, top: Math.max(1, top), moments: [0, 1], free: [free, free], largestFree: [largest, largest],
      tell: (i, place) => `${place}: ${names[i]}`,
      colours: all.map(block => block.state === 'limbo' ? 8 : -1)
    };
  }

  function bytes(count) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (count >= 1024 && unit < 4) {
      count /= 1024;
      unit++;
    }
    return `${count >= 100 || unit === 0 ? Math.round(count) : count.toPrecision(3)} ${units[unit]}`;
  }

  function rgb(name) {
    return parseInt(getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1, 7), 16);
  }

  /** Returns a colour in the order of the image: alpha, blue, green, red. */
  function pixel(name) {
    const colour = rgb(name);
    return (0xff000000 | (colour & 255) << 16 | (colour & 0xff00) | colour >> 16) >>> 0;
  }

  /** The classes of sizes, by powers of 16, each with a colour. */
  const CLASSES = ['under 4 KiB', 'to 64 KiB', 'to 1 MiB', 'to 16 MiB', 'to 256 MiB', 'to 4 GiB', 'above'];
  const FIRST_LOG2 = 12;

  function classOf(granules) {
    const log2 = 31 - Math.clz32(granules) + Math.log2(blocks.unit);
    return Math.max(0, Math.min(CLASSES.length - 1, (log2 - FIRST_LOG2 >> 2) + 1));
  }

  const classes = new Uint8Array(blocks.count);
  for (let i = 0; i < blocks.count; i++) {
    classes[i] = blocks.colours && blocks.colours[i] >= 0 ? blocks.colours[i] : classOf(blocks.sizes[i]);
  }
  let palette;
  let paper;

  function colours() {
    palette = Uint32Array.from({length: 10}, (_, i) => pixel(`--colour-${i}`));
    paper = pixel('--paper');
    const used = new Set(classes);
    document.getElementById('legend').replaceChildren(...CLASSES.concat(['', 'in limbo']).map((text, i) => {
      const item = document.createElement('span');
      const mark = document.createElement('i');
      mark.style.background = `var(--colour-${i})`;
      item.append(mark, text);
      return used.has(i) ? item : '';
    }));
  }

  function resize() {
    const box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(box.width));
    canvas.height = Math.max(1, Math.round(box.height));
    image = context.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(image.data.buffer);
    ask();
  }

  /** Returns the first block that starts at an operation or after it. */
  function firstFrom(operation) {
    let low = 0;
    let high = blocks.count;
    while (low < high) {
      const middle = low + high >> 1;
      if (blocks.starts[middle] < operation) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  function draw() {
    const {starts, ends, offsets, sizes} = blocks;
    const {t0, t1, a0, a1} = view;
    const width = canvas.width;
    const height = canvas.height;
    const across = width / (t1 - t0);
    const up = height / (a1 - a0);
    pixels.fill(paper);
    const last = firstFrom(t1);
    for (let i = 0; i < last; i++) {
      const end = ends[i];
      const offset = offsets[i];
      if (end < t0 || offset >= a1 || offset + sizes[i] <= a0) {
        continue;
      }
      // Coordinates outside the image are cut before they become 32-bit numbers.
      const upper = offset + sizes[i];
      const left = starts[i] <= t0 ? 0 : (starts[i] - t0) * across | 0;
      const right = end >= t1 ? width : Math.max(left + 1, (end - t0) * across | 0);
      const bottom = offset <= a0 ? height : height - ((offset - a0) * up | 0);
      const top = upper >= a1 ? 0 : Math.max(0, Math.min(bottom - 1, height - ((upper - a0) * up | 0)));
      const colour = palette[classes[i]];
      if (right - left === 1) {
        for (let at = top * width + left, stop = bottom * width + left; at < stop; at += width) {
          pixels[at] = colour;
        }
      } else {
        // Blocks that are large enough leave a line of paper between them.
        const from = bottom - top > 3 ? top + 1 : top;
        for (let row = from * width; row < bottom * width; row += width) {
          pixels.fill(colour, row + left, row + right);
        }
      }
    }
    context.putImageData(image, 0, 0);
    drawFree();
    document.getElementById('axis').replaceChildren(...[
      `operation ${Math.round(t0).toLocaleString('en')}`, `${bytes(a0 * blocks.unit)} to ${bytes(a1 * blocks.unit)}`,
      Math.round(t1).toLocaleString('en')].map(text => Object.assign(document.createElement('span'), {textContent: text})));
  }

  /** Draws the free bytes, and the largest free block, as fractions of the region. */
  function drawFree() {
    const area = document.querySelector('#free canvas');
    const box = area.getBoundingClientRect();
    area.width = Math.max(1, Math.round(box.width));
    area.height = Math.max(1, Math.round(box.height));
    const pen = area.getContext('2d');
    const style = getComputedStyle(document.documentElement);
    const region = blocks.top * blocks.unit;
    pen.font = '12px sans-serif';
    let textAt = 14;
    for (const [name, line, colour] of [['free', blocks.free, '--live'], ['largest free block', blocks.largestFree, '--colour-1']]) {
      pen.strokeStyle = pen.fillStyle = style.getPropertyValue(colour);
      pen.beginPath();
      for (let i = 0; i < line.length; i++) {
        const x = (blocks.moments[i] - view.t0) / (view.t1 - view.t0) * area.width;
        const y = area.height - line[i] / region * (area.height - 2) - 1;
        pen[i === 0 ? 'moveTo' : 'lineTo'](x, y);
      }
      pen.stroke();
      const most = line.reduce((a, b) => Math.max(a, b), 0);
      pen.fillText(`${name}, at most ${bytes(most)} of ${bytes(region)}`, 6, textAt);
      textAt += 15;
    }
  }

  function ask() {
    if (!asked) {
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        draw();
      });
    }
  }

  function limited(from, to, least, most) {
    const size = Math.min(most, Math.max(least, to - from));
    const start = Math.min(most - size, Math.max(0, from));
    return [start, start + size];
  }

  function look(next) {
    const [t0, t1] = limited(next.t0, next.t1, Math.min(10, whole.t1), whole.t1);
    const [a0, a1] = limited(next.a0, next.a1, Math.min(16, whole.a1), whole.a1);
    view = {t0, t1, a0, a1};
    ask();
  }

  function zoom(factor, x, y, time, addresses) {
    const t = view.t0 + x * (view.t1 - view.t0);
    const a = view.a1 - y * (view.a1 - view.a0);
    const ft = time ? factor : 1;
    const fa = addresses ? factor : 1;
    look({t0: t - (t - view.t0) * ft, t1: t + (view.t1 - t) * ft, a0: a - (a - view.a0) * fa, a1: a + (view.a1 - a) * fa});
  }

  function find(x, y) {
    const t = view.t0 + x * (view.t1 - view.t0);
    const a = view.a1 - y * (view.a1 - view.a0);
    const width = (view.t1 - view.t0) / canvas.width;
    for (let i = firstFrom(t + width) - 1; i >= 0; i--) {
      if (blocks.ends[i] >= t - width && blocks.offsets[i] <= a && a < blocks.offsets[i] + blocks.sizes[i]) {
        return i;
      }
    }
    return -1;
  }

  function show(event) {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    const y = (event.clientY - box.top) / box.height;
    const i = find(x, y);
    tip.hidden = i < 0;
    if (i >= 0) {
      const place = `${bytes(blocks.sizes[i] * blocks.unit)} at ${bytes(blocks.offsets[i] * blocks.unit)}`;
      tip.textContent = blocks.tell(i, place);
      tip.style.left = x > 0.5 ? 'auto' : `${x * box.width + 12}px`;
      tip.style.right = x > 0.5 ? `${(1 - x) * box.width + 12}px` : 'auto';
      tip.style.top = `${Math.min(box.height - 30, y * box.height + 12)}px`;
    }
  }

  let dragged = null;
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp((event.deltaY || event.deltaX) / 400), (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height,
      !event.shiftKey, !event.altKey);
  }, {passive: false});
  canvas.addEventListener('pointerdown', event => {
    dragged = {x: event.clientX, y: event.clientY, view};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    if (dragged) {
      const box = canvas.getBoundingClientRect();
      const t = (dragged.x - event.clientX) / box.width * (dragged.view.t1 - dragged.view.t0);
      const a = (event.clientY - dragged.y) / box.height * (dragged.view.a1 - dragged.view.a0);
      look({t0: dragged.view.t0 + t, t1: dragged.view.t1 + t, a0: dragged.view.a0 + a, a1: dragged.view.a1 + a});
    } else {
      show(event);
    }
  });
  canvas.addEventListener('pointerup', () => dragged = null);
  canvas.addEventListener('pointerleave', () => tip.hidden = true);
  canvas.addEventListener('dblclick', () => look(whole));
  addEventListener('keydown', event => {
    const step = {'+': [0.7, 0, 0], '=': [0.7, 0, 0], '-': [1.4, 0, 0], ArrowLeft: [1, -0.1, 0], ArrowRight: [1, 0.1, 0],
      ArrowUp: [1, 0, 0.1], ArrowDown: [1, 0, -0.1]}[event.key];
    if (event.key === '0') {
      look(whole);
    } else if (step && step[0] !== 1) {
      zoom(step[0], 0.5, 0.5, true, true);
    } else if (step) {
      const t = step[1] * (view.t1 - view.t0);
      const a = step[2] * (view.a1 - view.a0);
      look({t0: view.t0 + t, t1: view.t1 + t, a0: view.a0 + a, a1: view.a1 + a});
      event.preventDefault();
    }
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    colours();
    ask();
  });
  addEventListener('resize', resize);
  colours();
  resize();
  draw();
  const upAfterMs = performance.now();
  return {zoom, look, find, count: blocks.count, whole, upAfterMs, view: () => view};
})();
