'use strict';
/*
 * Blocks are columns of numbers, sorted by their start. Each frame writes the pixels of the visible blocks into one image. A block that
 * is narrower than a pixel is drawn as one pixel, so that no block disappears at any zoom. Text stands beside the image, never on it.
 */
const picture = (() => {
  const byId = id => document.getElementById(id);
  const element = byId('data');
  const isDump = element.dataset.kind === 'dump';
  const NEVER = 'to the end';
  const UNKNOWN = 'unknown';
  const MOST_ROWS = 40;
  const COLOURS = 10;
  const LIMBO = 8;

  /** The classes of sizes, by powers of 16, each with a colour. */
  const CLASSES = ['under 4 KiB', 'to 64 KiB', 'to 1 MiB', 'to 16 MiB', 'to 256 MiB', 'to 4 GiB', 'above'];
  const FIRST_LOG2 = 12;

  const blocks = isDump ? ofDump(JSON.parse(element.textContent)) : ofTrace(JSON.parse(element.textContent));
  const count = blocks.offsets.length;
  element.textContent = '';
  const canvas = document.querySelector('#blocks canvas');
  const context = canvas.getContext('2d', {alpha: false});
  const tip = byId('tip');
  const colourOf = new Uint32Array(count);
  let axis = blocks.axes[0];
  let whole = {t0: 0, t1: axis.end, a0: 0, a1: blocks.top};
  let view = {...whole};
  let group;
  let found = new Uint8Array(blocks.ownerCount).fill(1);
  let chosen = -1;
  let moment = blocks.peak;
  let picked = -1;
  let image;
  let pixels;
  let asked = false;

  function bytesOf(text) {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) {
      bytes[i] = raw.charCodeAt(i);
    }
    return bytes;
  }

  function numbers(text) {
    return new Uint32Array(bytesOf(text).buffer);
  }

  /** Reads microseconds from one operation to the next, seven bits a byte, and returns the seconds of each since the first. */
  function secondsOf(text, operations) {
    const seconds = new Float64Array(operations);
    let at = 0;
    let micros = 0;
    let scale = 1;
    for (const byte of bytesOf(text)) {
      micros += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) {
        seconds[at++] = micros / 1e6;
        scale = 1;
      }
    }
    return seconds;
  }

  /** Reads the blocks of a trace. An owner is four numbers: of its place, thread and stream in the texts, and of its stack. */
  function ofTrace(data) {
    const starts = numbers(data.starts);
    const ends = numbers(data.ends);
    const none = data.owners === undefined;
    const owners = none ? new Uint32Array(starts.length) : numbers(data.owners);
    const parts = none ? new Uint32Array(4) : numbers(data.parts);
    const texts = none ? [''] : data.texts;
    const axes = [{name: 'operations', starts, ends, moments: data.moments, end: data.operations, at: i => i + 0.5, operation: Math.floor,
      text: (value, step) => Math.round(value).toLocaleString('en'), least: 10}];
    const seconds = data.times ? secondsOf(data.times, data.operations) : null;
    const last = seconds ? seconds[data.operations - 1] : 0;
    if (last > 0) {
      const ofOperation = i => i < data.operations ? seconds[i] : last;
      axes.unshift({name: 'seconds', starts: Float64Array.from(starts, ofOperation), ends: Float64Array.from(ends, ofOperation),
        moments: data.moments.map(ofOperation), end: last, at: ofOperation, operation: time => firstAfter(seconds, time) - 1,
        text: time, least: 1e-6});
    }
    const part = (name, column) => ({name, texts, of: i => parts[4 * owners[i] + column], other: data.other && data.other.holders[column]});
    const groupings = [part('place', 0), part('thread', 1), part('stream', 2)].filter(
      (_, column) => parts.some((text, i) => i % 4 === column && texts[text] !== ''));
    const ownerText = o => [texts[parts[4 * o]], ...['thread ', 'stream '].map((name, i) => texts[parts[4 * o + i + 1]] &&
      name + texts[parts[4 * o + i + 1]])].filter(text => text).join(', ');
    const stack = o => none ? [] : data.stacks[parts[4 * o + 3]].map(frame => texts[frame]);
    return {
      offsets: numbers(data.offsets), sizes: numbers(data.sizes), unit: data.granuleBytes, starts, ends, axes, operations: data.operations,
      top: data.regionBytes / data.granuleBytes, free: data.free, largestFree: data.largestFree, peak: data.peak, owners,
      ownerCount: parts.length / 4, ownerText, stack, groupings, isInLimbo: () => false, other: data.other,
      at: i => seconds && last > 0 ? `, ${time(seconds[Math.min(i, data.operations - 1)])}` : '',
      tell: (i, place) => `block ${(i + 1).toLocaleString('en')}: ${place}, operations ${starts[i].toLocaleString('en')} to ${
        ends[i].toLocaleString('en')}${ownerText(owners[i]) ? `, ${ownerText(owners[i])}` : ''}`
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
    const siteOf = i => all[i].site || sites.get(all[i].address) || '';
    const offsets = new Float64Array(all.length);
    all.forEach((block, i) => {
      const address = BigInt(block.address);
      const region = regions.find(each => address >= each.address && address < each.address + BigInt(each.size)) || regions[0];
      offsets[i] = region.from + Number((address - region.address) / BigInt(unit));
    });
    const texts = [...new Set(all.map((_, i) => siteOf(i)))];
    const numberOf = new Map(texts.map((text, i) => [text, i]));
    const groupings = texts.some(text => text) ? [{name: 'place', texts, of: i => numberOf.get(siteOf(i))}] : [];
    const starts = new Uint32Array(all.length);
    const ends = new Uint32Array(all.length).fill(1);
    return {
      starts, ends, offsets, sizes: Float64Array.from(all, block => Math.ceil(block.sizeBytes / unit)), unit,
      axes: [{name: 'operations', starts, ends, moments: [], end: 1, at: () => 0.5, operation: () => 0, text: () => '', least: 1}],
      operations: 1, top: Math.max(1, top), free: [], largestFree: [], peak: 0, owners: Uint32Array.from(all.keys()), ownerCount: all.length,
      ownerText: siteOf, stack: () => [], groupings, regions, isInLimbo: i => all[i].state === 'limbo', at: () => '',
      tell: (i, place) => `${place}: ${all[i].address}, ${all[i].state}${siteOf(i) ? `, ${siteOf(i)}` : ''}`
    };
  }

  /** Formats bytes with three digits, or with as many as tell steps of the given size apart. */
  function bytes(amount, step) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    let size = 1;
    while (amount >= 1024 * size && unit < 4) {
      size *= 1024;
      unit++;
    }
    const text = amount / size;
    const three = text >= 100 || unit === 0 ? 0 : text >= 10 ? 1 : 2;
    const apart = step < size ? Math.min(6, 1 + Math.ceil(Math.log10(size / step))) : 0;
    return `${text.toFixed(step ? apart : three)} ${units[unit]}`;
  }

  /** Formats seconds with three digits, or with as many as tell steps of the given size apart. */
  function time(seconds, step) {
    const size = step ? 100 * step : seconds || 1;
    const [unit, name] = size >= 1 ? [1, 's'] : size >= 1e-3 ? [1e-3, 'ms'] : [1e-6, 'µs'];
    const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10((step || seconds / 100 || 1) / unit) - 1e-9)));
    return `${(seconds / unit).toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits})} ${name}`;
  }

  function tag(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function swatch(colour) {
    const mark = tag('i', {className: 'swatch'});
    mark.style.background = mark.style.borderColor = `var(${colour})`;
    return mark;
  }

  /** Returns the first index of a sorted column whose value is greater. */
  function firstAfter(column, value) {
    let low = 0;
    let high = column.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (column[middle] <= value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  function classOf(i) {
    if (blocks.isInLimbo(i)) {
      return CLASSES.length;
    }
    const log2 = Math.floor(Math.log2(blocks.sizes[i] * blocks.unit));
    return Math.max(0, Math.min(CLASSES.length - 1, (log2 - FIRST_LOG2 >> 2) + 1));
  }

  blocks.groupings.push({name: 'size', texts: CLASSES.concat('in limbo'), of: classOf, colours: [...CLASSES.keys(), LIMBO]});

  /** Tells whether a block is in use after an operation. */
  function isInUse(i, operation) {
    return blocks.starts[i] <= operation && operation < blocks.ends[i];
  }

  /** Groups the blocks anew. The groups with most bytes at the peak get colours, then those with most bytes at all; the rest share one. */
  function groupBy(grouping) {
    const of = new Uint32Array(count);
    const now = new Float64Array(grouping.texts.length);
    const ever = new Float64Array(grouping.texts.length);
    for (let i = 0; i < count; i++) {
      of[i] = grouping.of(i);
      ever[of[i]] += blocks.sizes[i];
      if (isInUse(i, blocks.peak)) {
        now[of[i]] += blocks.sizes[i];
      }
    }
    const colours = new Uint8Array(grouping.texts.length).fill(COLOURS);
    if (grouping.colours) {
      colours.set(grouping.colours);
    } else {
      [...now.keys()].sort((a, b) => now[b] - now[a] || ever[b] - ever[a]).slice(0, COLOURS).forEach((one, rank) => colours[one] = rank);
    }
    group = {...grouping, of, colours};
    chosen = -1;
  }

  function isShown(i) {
    return found[blocks.owners[i]] === 1 && (chosen < 0 || group.of[i] === chosen);
  }

  /** Groups without a colour of their own share one, which stands out if only some blocks are shown. */
  const cssOf = colour => colour < COLOURS ? `--colour-${colour}` : chosen >= 0 || found.includes(0) ? '--ink' : '--live';

  /** Returns a colour in the order of the image, alpha, blue, green, red, mixed with paper if it is dimmed. */
  function pixel(name, dimmed) {
    const style = getComputedStyle(document.documentElement);
    const [colour, paper] = [name, '--paper'].map(each => parseInt(style.getPropertyValue(each).trim().slice(1, 7), 16));
    const part = shift => {
      const full = colour >> shift & 255;
      return dimmed ? Math.round(full * 0.16 + (paper >> shift & 255) * 0.84) : full;
    };
    return (0xff000000 | part(0) << 16 | part(8) << 8 | part(16)) >>> 0;
  }

  /** Colours all blocks, and tells of the groups. To be called when the colours, groups, or what is shown of them change. */
  function paint() {
    const bright = Uint32Array.from({length: COLOURS + 1}, (_, i) => pixel(cssOf(i)));
    const dimmed = Uint32Array.from({length: COLOURS + 1}, (_, i) => pixel(cssOf(i), true));
    for (let i = 0; i < count; i++) {
      colourOf[i] = (isShown(i) ? bright : dimmed)[group.colours[group.of[i]]];
    }
    tellHolders();
    ask();
  }

  function life(i) {
    return blocks.ends[i] === blocks.operations ? Infinity : axis.ends[i] - axis.starts[i];
  }

  function lifeText(life) {
    return life === Infinity ? NEVER : axis.name === 'seconds' ? time(life) : `${life.toLocaleString('en')} op.`;
  }

  /** Returns the groups of the blocks that are in use at the moment and found; the one with most bytes is the first. */
  function holders() {
    const groups = new Map();
    for (let i = 0; i < count; i++) {
      if (isInUse(i, moment) && found[blocks.owners[i]]) {
        const name = group.of[i];
        const its = groups.get(name) || {name, text: group.texts[name] || UNKNOWN, bytes: 0, lives: []};
        its.bytes += blocks.sizes[i] * blocks.unit;
        its.lives.push(life(i));
        groups.set(name, its);
      }
    }
    for (const its of groups.values()) {
      its.blocks = its.lives.length;
      its.life = its.lives.sort((a, b) => a - b)[its.blocks >> 1];
    }
    return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
  }

  /** Adds what the groups hold at the peak of another recording, and the groups that are only there. */
  function addOthers(all) {
    const rest = new Map(group.other);
    for (const each of all) {
      const name = group.texts[each.name];
      each.beside = rest.get(name) || 0;
      rest.delete(name);
    }
    for (const [name, beside] of rest) {
      all.push({name: -1, text: name || UNKNOWN, bytes: 0, beside});
    }
    all.sort((a, b) => Math.max(b.bytes, b.beside) - Math.max(a.bytes, a.beside));
  }

  function change(difference) {
    return difference === 0 ? '0' : `${difference > 0 ? '+' : '\u2212'}${bytes(Math.abs(difference))}`;
  }

  function tellHolders() {
    let used = 0;
    for (let i = 0; i < count; i++) {
      used += isInUse(i, moment) ? blocks.sizes[i] * blocks.unit : 0;
    }
    const all = holders();
    const sum = all.reduce((total, each) => total + each.bytes, 0);
    const isBeside = group.other !== undefined && moment === blocks.peak && sum === used;
    if (isBeside) {
      addOthers(all);
    }
    const columns = [['bytes', each => bytes(each.bytes)], ['share', each => `${(100 * each.bytes / (used || 1)).toFixed(1)} %`]].concat(
      isBeside ? [['beside', each => bytes(each.beside)], ['change', each => change(each.bytes - each.beside)]]
        : [['blocks', each => each.blocks.toLocaleString('en')]].concat(isDump ? [] : [['median life', each => lifeText(each.life)]]));
    const rows = all.slice(0, MOST_ROWS).map(each => {
      const button = tag('button', {type: 'button'}, swatch(cssOf(group.colours[each.name])), each.text);
      const row = tag('tr', {}, tag('th', {scope: 'row'}, button), ...columns.map(([, text]) => tag('td', {textContent: text(each)})));
      row.setAttribute('aria-selected', each.name >= 0 && each.name === chosen);
      row.addEventListener('click', () => {
        chosen = chosen === each.name || each.name < 0 ? -1 : each.name;
        paint();
      });
      return row;
    });
    const head = tag('tr', {}, ...[group.name, ...columns.map(([name]) => name)].map(text => tag('th', {scope: 'col', textContent: text})));
    const when = isDump ? '' : ` at ${moment === blocks.peak ? 'the peak' : 'this moment'}`;
    byId('holders').replaceChildren(
      tag('h2', {textContent: `${isDump ? 'Held' : `In use${when}`}: ${bytes(used)}`}),
      tag('p', {textContent: [isDump ? '' : `after operation ${moment.toLocaleString('en')}${blocks.at(moment)}`,
        sum < used ? `found: ${bytes(sum)}, ${(100 * sum / (used || 1)).toFixed(1)} %` : '',
        isBeside ? `beside it ${blocks.other.name}: ${bytes(blocks.other.bytes)} at its peak` : ''].filter(text => text).join('; ')}),
      tag('table', {}, tag('thead', {}, head), tag('tbody', {}, ...rows)),
      tag('p', {textContent: all.length > MOST_ROWS ? `and ${(all.length - MOST_ROWS).toLocaleString('en')} more` : ''}));
  }

  /** Tells of the block that was clicked, its life and its stack. */
  function tellBlock() {
    const section = byId('block');
    section.hidden = picked < 0;
    if (picked >= 0) {
      const i = picked;
      const lines = isDump ? [] : [
        `from operation ${blocks.starts[i].toLocaleString('en')}${blocks.at(blocks.starts[i])}`,
        life(i) === Infinity ? NEVER : `to operation ${blocks.ends[i].toLocaleString('en')}${blocks.at(blocks.ends[i])}`,
        ...(life(i) === Infinity ? [] : [`life: ${lifeText(life(i))}`])];
      const owner = isDump ? [blocks.tell(i, bytes(blocks.sizes[i] * blocks.unit))] : [blocks.ownerText(blocks.owners[i])];
      const stack = blocks.stack(blocks.owners[i]);
      section.replaceChildren(
        tag('h2', {textContent: `Block ${(i + 1).toLocaleString('en')}: ${bytes(blocks.sizes[i] * blocks.unit)}`}),
        ...[lines.join(', '), ...owner].filter(text => text).map(textContent => tag('p', {textContent})),
        ...(stack.length > 0 ? [tag('ol', {}, ...stack.map(textContent => tag('li', {textContent})))] : []));
    }
    ask();
  }

  function resize() {
    const box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(box.width * devicePixelRatio));
    canvas.height = Math.max(1, Math.round(box.height * devicePixelRatio));
    image = context.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(image.data.buffer);
    ask();
  }

  function draw() {
    const {offsets, sizes} = blocks;
    const {starts, ends} = axis;
    const {t0, t1, a0, a1} = view;
    const width = canvas.width;
    const height = canvas.height;
    const across = width / (t1 - t0);
    const up = height / (a1 - a0);
    pixels.fill(pixel('--paper'));
    const last = firstAfter(starts, t1);
    for (let i = 0; i < last; i++) {
      const end = ends[i];
      const offset = offsets[i];
      if (end < t0 || offset >= a1 || offset + sizes[i] <= a0) {
        continue;
      }
      // Coordinates outside the image are cut before they become 32-bit numbers.
      const upper = offset + sizes[i];
      const left = starts[i] <= t0 ? 0 : Math.min(width - 1, (starts[i] - t0) * across | 0);
      const right = end >= t1 ? width : Math.max(left + 1, (end - t0) * across | 0);
      const bottom = offset <= a0 ? height : height - ((offset - a0) * up | 0);
      const top = upper >= a1 ? 0 : Math.max(0, Math.min(bottom - 1, height - ((upper - a0) * up | 0)));
      const colour = colourOf[i];
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
    label();
  }

  /** Draws the free bytes, and the largest free block, as fractions of the region. */
  function drawFree() {
    const area = document.querySelector('#free canvas');
    const box = area.getBoundingClientRect();
    area.width = Math.max(1, Math.round(box.width * devicePixelRatio));
    area.height = Math.max(1, Math.round(box.height * devicePixelRatio));
    const pen = area.getContext('2d');
    const style = getComputedStyle(document.documentElement);
    pen.lineWidth = 1.5 * devicePixelRatio;
    for (const [line, colour] of [[blocks.free, '--live'], [blocks.largestFree, '--colour-1']]) {
      pen.strokeStyle = style.getPropertyValue(colour);
      pen.beginPath();
      for (let i = 0; i < line.length; i++) {
        pen.lineTo((axis.moments[i] - view.t0) / (view.t1 - view.t0) * area.width,
          area.height - line[i] / (blocks.top * blocks.unit) * (area.height - 2) - 1);
      }
      pen.stroke();
    }
  }

  /** Returns the smallest step, of 1, 2 and 5 times powers of ten, or of powers of two, that gives at most so many in a range. */
  function stepFor(range, most, isBinary) {
    if (isBinary) {
      return 2 ** Math.ceil(Math.log2(range / most));
    }
    const ten = 10 ** Math.floor(Math.log10(range / most));
    return [1, 2, 5, 10].map(times => times * ten).find(step => range / step <= most) || 10 * ten;
  }

  function labelAt(edge, fraction, text) {
    const made = tag('span', {textContent: text});
    made.style[edge] = `${fraction * 100}%`;
    return made;
  }

  /** Writes the numbers at the axes, and moves what marks a moment and a block. */
  function label() {
    const {t0, t1, a0, a1} = view;
    const box = canvas.getBoundingClientRect();
    const times = [];
    const step = Math.max(axis.name === 'operations' ? 1 : 1e-6, stepFor(t1 - t0, Math.max(2, box.width / 110), false));
    for (let tick = Math.ceil(t0 / step); !isDump && tick * step <= t1; tick++) {
      times.push(labelAt('left', (tick * step - t0) / (t1 - t0), axis.text(tick * step, step)));
    }
    byId('times').replaceChildren(...times);
    // A label at the end would leave the page.
    const right = byId('times').getBoundingClientRect().right;
    const ending = times[times.length - 1];
    if (ending && ending.getBoundingClientRect().right > right) {
      ending.style.translate = `${right - ending.getBoundingClientRect().right}px`;
    }
    const size = blocks.unit * stepFor(a1 - a0, Math.max(2, box.height / 45), true);
    const places = [];
    for (const region of blocks.regions || [{from: 0, size: blocks.top * blocks.unit}]) {
      const from = region.from * blocks.unit;
      const first = Math.max(0, Math.ceil((a0 * blocks.unit - from) / size));
      for (let tick = first; tick * size < Math.min(region.size, a1 * blocks.unit - from); tick++) {
        const text = region.address === undefined ? bytes(tick * size, size)
          : tick === 0 ? `0x${region.address.toString(16)}` : `+ ${bytes(tick * size, size)}`;
        places.push(labelAt('bottom', ((from + tick * size) / blocks.unit - a0) / (a1 - a0), text));
      }
    }
    byId('places').replaceChildren(...places.map(each => {
      each.style.transform = 'translateY(50%)';
      return each;
    }));
    const x = (axis.at(moment) - t0) / (t1 - t0);
    for (const line of document.querySelectorAll('.moment')) {
      line.style.left = `${x * 100}%`;
      line.hidden = x < 0 || x > 1;
    }
    const button = byId('peak');
    const name = moment === blocks.peak ? 'peak' : 'this moment; back to the peak';
    button.textContent = x < 0 ? `\u2190 ${name}` : x > 1 ? `${name} \u2192` : name;
    button.style.left = `${Math.max(0, Math.min(box.width - button.offsetWidth, x * box.width - button.offsetWidth / 2))}px`;
    const frame = byId('frame');
    frame.hidden = picked < 0;
    if (picked >= 0) {
      const place = (value, from, to) => Math.max(-0.1, Math.min(1.1, (value - from) / (to - from)));
      const left = place(axis.starts[picked], t0, t1);
      const low = place(blocks.offsets[picked], a0, a1);
      frame.style.left = `${left * 100}%`;
      frame.style.bottom = `${low * 100}%`;
      frame.style.width = `${(place(axis.ends[picked], t0, t1) - left) * 100}%`;
      frame.style.height = `${(place(blocks.offsets[picked] + blocks.sizes[picked], a0, a1) - low) * 100}%`;
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
    const [t0, t1] = limited(next.t0, next.t1, Math.min(axis.least, whole.t1), whole.t1);
    const [a0, a1] = limited(next.a0, next.a1, Math.min(16, whole.a1), whole.a1);
    view = {t0, t1, a0, a1};
    tip.hidden = true;
    ask();
  }

  /** Zooms around a place in the image, by a factor for the time and one for addresses. */
  function zoom(x, y, ft, fa) {
    const t = view.t0 + x * (view.t1 - view.t0);
    const a = view.a1 - y * (view.a1 - view.a0);
    look({t0: t - (t - view.t0) * ft, t1: t + (view.t1 - t) * ft, a0: a - (a - view.a0) * fa, a1: a + (view.a1 - a) * fa});
  }

  function move(from, x, y) {
    const t = x * (from.t1 - from.t0);
    const a = y * (from.a1 - from.a0);
    look({t0: from.t0 + t, t1: from.t1 + t, a0: from.a0 + a, a1: from.a1 + a});
  }

  function find(x, y) {
    const t = view.t0 + x * (view.t1 - view.t0);
    const a = view.a1 - y * (view.a1 - view.a0);
    const width = (view.t1 - view.t0) / canvas.width;
    for (let i = firstAfter(axis.starts, t + width) - 1; i >= 0; i--) {
      if (axis.ends[i] >= t - width && blocks.offsets[i] <= a && a < blocks.offsets[i] + blocks.sizes[i]) {
        return i;
      }
    }
    return -1;
  }

  /** Returns where an event is in the image, in fractions of its width and height. */
  function placeOf(event, area = canvas) {
    const box = area.getBoundingClientRect();
    return {x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, box};
  }

  function show(event) {
    const {x, y, box} = placeOf(event);
    const i = find(x, y);
    tip.hidden = i < 0;
    if (i >= 0) {
      const place = `${bytes(blocks.sizes[i] * blocks.unit)} at ${bytes(blocks.offsets[i] * blocks.unit)}`;
      tip.textContent = blocks.tell(i, place);
      tip.style.left = x > 0.5 ? 'auto' : `${x * box.width + 12}px`;
      tip.style.right = x > 0.5 ? `${(1 - x) * box.width + 12}px` : 'auto';
      tip.style.top = y > 0.7 ? 'auto' : `${y * box.height + 12}px`;
      tip.style.bottom = y > 0.7 ? `${(1 - y) * box.height + 12}px` : 'auto';
    }
    return i;
  }

  const TAP_PIXELS = 5;
  const PINCH_PIXELS = 30;
  const pointers = new Map();
  let gesture = null;

  /** Begins a gesture with the fingers, or the mouse's button, that are down. */
  function begin() {
    const all = [...pointers.values()];
    gesture = all.length === 0 ? null : {view, all: all.map(each => ({...each})), moved: all.length > 1 || gesture !== null && gesture.moved};
  }

  function follow() {
    const {all, view: from} = gesture;
    const now = [...pointers.values()];
    const box = canvas.getBoundingClientRect();
    const middle = (points, key) => points.reduce((sum, each) => sum + each[key], 0) / points.length;
    const dx = middle(all, 'x') - middle(now, 'x');
    const dy = middle(now, 'y') - middle(all, 'y');
    gesture.moved = gesture.moved || Math.hypot(dx, dy) > TAP_PIXELS;
    if (gesture.moved) {
      view = {...from};
      if (all.length > 1) {
        // Fingers side by side zoom time, fingers above each other addresses, and those on a slant both.
        const factor = key => Math.abs(all[0][key] - all[1][key]) < PINCH_PIXELS ? 1
          : Math.abs(all[0][key] - all[1][key]) / Math.max(PINCH_PIXELS / 2, Math.abs(now[0][key] - now[1][key]));
        zoom((middle(all, 'x') - box.left) / box.width, (middle(all, 'y') - box.top) / box.height, factor('x'), factor('y'));
      }
      move(view, dx / box.width, dy / box.height);
    }
  }

  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    const {x, y} = placeOf(event);
    const factor = Math.exp((event.deltaY || event.deltaX) / 400);
    zoom(x, y, event.shiftKey ? 1 : factor, event.altKey ? 1 : factor);
  }, {passive: false});
  canvas.addEventListener('pointerdown', event => {
    pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    canvas.setPointerCapture(event.pointerId);
    begin();
  });
  canvas.addEventListener('pointermove', event => {
    if (pointers.has(event.pointerId)) {
      pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
      follow();
    } else {
      show(event);
    }
  });
  for (const name of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(name, event => {
      if (pointers.delete(event.pointerId)) {
        if (name === 'pointerup' && pointers.size === 0 && !gesture.moved) {
          picked = show(event);
          tellBlock();
        }
        begin();
      }
    });
  }
  canvas.addEventListener('pointerleave', event => tip.hidden = event.pointerType === 'mouse' || tip.hidden);
  canvas.addEventListener('dblclick', () => look(whole));
  document.querySelector('#free canvas').addEventListener('click', event => {
    const at = view.t0 + placeOf(event, event.target).x * (view.t1 - view.t0);
    look(view);
    at >= 0 && setMoment(Math.max(0, Math.min(blocks.operations - 1, axis.operation(at))));
  });

  function setMoment(operation) {
    moment = operation;
    tellHolders();
    ask();
  }

  byId('peak').addEventListener('click', () => {
    const middle = (view.t0 + view.t1) / 2;
    setMoment(blocks.peak);
    if (axis.at(moment) < view.t0 || axis.at(moment) > view.t1) {
      move(view, (axis.at(moment) - middle) / (view.t1 - view.t0), 0);
    }
  });
  byId('whole').addEventListener('click', () => look(whole));
  byId('by').append(...blocks.groupings.map(({name}) => tag('option', {textContent: name})));
  byId('by').addEventListener('change', event => {
    groupBy(blocks.groupings[event.target.selectedIndex]);
    paint();
  });
  const units = document.querySelector('#unit select');
  units.append(...blocks.axes.map(({name}) => tag('option', {textContent: name})));
  units.parentElement.hidden = blocks.axes.length === 1;
  units.addEventListener('change', () => {
    axis = blocks.axes[units.selectedIndex];
    whole = {...whole, t1: axis.end};
    look({...view, t0: 0, t1: axis.end});
    tellHolders();
    tellBlock();
  });
  byId('find').addEventListener('input', event => {
    const wanted = event.target.value.trim().toLowerCase();
    found = Uint8Array.from({length: blocks.ownerCount}, (_, o) =>
      [blocks.ownerText(o), ...blocks.stack(o)].some(text => text.toLowerCase().includes(wanted)) ? 1 : 0);
    paint();
  });
  addEventListener('keydown', event => {
    const step = {'+': [0.7, 0, 0], '=': [0.7, 0, 0], '-': [1.4, 0, 0], ArrowLeft: [1, -0.1, 0], ArrowRight: [1, 0.1, 0],
      ArrowUp: [1, 0, 0.1], ArrowDown: [1, 0, -0.1]}[event.key];
    if (event.target.matches('input, select') || event.ctrlKey || event.metaKey) {
      return;
    }
    if (event.key === '0') {
      look(whole);
    } else if (step && step[0] !== 1) {
      zoom(0.5, 0.5, step[0], step[0]);
    } else if (step && document.activeElement === canvas) {
      move(view, step[1], step[2]);
      event.preventDefault();
    }
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  // What is printed is drawn before the printer asks for it, in the colours that it has.
  matchMedia('print').addEventListener('change', () => {
    paint();
    resize();
    draw();
  });
  addEventListener('resize', resize);
  if (!isDump) {
    const most = line => bytes(line.reduce((a, b) => Math.max(a, b), 0));
    byId('lines').append(...[['free', blocks.free, '--live'], ['largest free block', blocks.largestFree, '--colour-1']].map(
      ([name, line, colour]) => tag('span', {}, swatch(colour), `${name}, at most ${most(line)} of ${bytes(blocks.top * blocks.unit)}`)));
    byId('levels').append(labelAt('top', 1, '0'), labelAt('top', 0, bytes(blocks.top * blocks.unit)));
  }
  groupBy(blocks.groupings[0]);
  resize();
  paint();
  draw();
  const upAfterMs = performance.now();
  return {zoom, look, find, holders, count, whole, upAfterMs, view: () => view, picked: () => picked, moment: () => moment};
})();
