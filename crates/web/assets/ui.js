// The page of the servers: keeps the sections that the event stream sends, and draws them.
//
// All text goes into the page as text nodes. Attributes get only values of our own, except `src` of images,
// whose bytes the program has checked, and `href` of pages, whose scheme is checked in `pageLink`.
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const SVG = 'http://www.w3.org/2000/svg';
  const HEADERS = { 'X-Mcparley-Ui': '1' };

  // ---------------------------------------------------------------- elements

  /** Makes an element. Strings among the children become text; `on` has the listeners. */
  function el(tag, options = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (value === undefined || value === null || value === false) continue;
      if (key === 'class') node.className = value;
      else if (key === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
      else if (key === 'value' || key === 'checked' || key === 'disabled' || key === 'hidden' || key === 'required') node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
    return node;
  }
  const button = (text, listener, kind) => el('button', { type: 'button', class: kind, on: { click: listener } }, text);
  const fill = (node, ...children) => node.replaceChildren(...children.filter(Boolean));

  let idCount = 0;
  const freshId = (word) => `${word}-${++idCount}`;

  function svg(tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    return node;
  }

  /** A link to a page that a server names; only http and https, in a tab of its own. */
  function pageLink(address, text) {
    let url;
    try { url = new URL(address); } catch { return null; }
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
    return el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, text);
  }

  const plural = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
  function duration(milliseconds) {
    if (milliseconds < 1) return `${milliseconds.toFixed(1)} ms`;
    if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
    if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(2)} s`;
    return `${Math.floor(milliseconds / 60000)} min`;
  }
  const clock = (milliseconds) => new Date(milliseconds).toLocaleTimeString('en-GB');

  function toast(text, action) {
    const node = el('div', { class: 'toast' }, el('span', {}, text), action);
    $('toasts').append(node);
    setTimeout(() => node.remove(), action ? 12000 : 4000);
    return node;
  }

  // ---------------------------------------------------------------- requests

  class PageError extends Error {
    constructor(status, body) {
      super([body.error || `status ${status}`, body.hint && `(${body.hint})`].filter(Boolean).join(' '));
      this.status = status;
    }
  }

  async function readAnswer(response) {
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      const error = body.error && body.error.message ? { error: body.error.message } : body;
      throw new PageError(response.status, error);
    }
    return body;
  }
  const get = async (path, signal) => readAnswer(await fetch(path, { headers: HEADERS, signal }));
  const post = async (path, body, signal) => readAnswer(await fetch(path, {
    method: 'POST', headers: { ...HEADERS, 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal,
  }));

  /** Reads an event stream; EventSource cannot send the header that every request needs. */
  async function readEvents(path, signal, onOpen, onEvent) {
    const response = await fetch(path, { headers: HEADERS, signal });
    if (!response.ok) await readAnswer(response);
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      for (let end; (end = rest.indexOf('\n\n')) >= 0; rest = rest.slice(end + 2)) {
        let name = '';
        let data = '';
        for (const line of rest.slice(0, end).split('\n')) {
          if (line.startsWith('event: ')) name = line.slice(7);
          else if (line.startsWith('data: ')) data += line.slice(6);
        }
        if (name) onEvent(name, JSON.parse(data));
      }
    }
  }

  // ---------------------------------------------------------------- state

  const state = {
    servers: [], tools: [], questions: [], calls: { running: [], finished: [] }, trust: { items: [] },
    selected: null, openTool: null, tab: 'tools', logOf: null,
  };
  const serverOf = (name) => state.servers.find((server) => server.name === name);

  // ---------------------------------------------------------------- servers

  function drawServers() {
    const list = $('servers');
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.server : undefined;
    const rows = state.servers.map((server) => {
      const isSelected = state.selected === server.name;
      const facts = [server.words, server.scope, server.transport];
      if (server.running) facts.push(`${plural(server.running, 'call')} running`);
      const reason = server.reason && (server.state === 'failed' || server.state === 'waiting') ? server.reason : '';
      return el('li', {}, el('button', {
        type: 'button', 'data-server': server.name, 'aria-current': String(isSelected),
        on: { click: () => selectServer(isSelected ? null : server.name) },
      },
      el('span', { class: `dot ${server.state}`, 'aria-hidden': 'true' }),
      el('span', { class: 'name' }, server.name),
      el('span', { class: 'number' }, server.tools ? plural(server.tools, 'tool') : ''),
      el('span', { class: 'about' }, facts.join(' · ')),
      reason ? el('span', { class: `about ${server.state === 'failed' ? 'bad' : ''}` }, reason) : null));
    });
    fill(list, ...rows);
    if (!rows.length) list.append(el('li', { class: 'empty' }, 'No servers are configured. Add one with mcparley add.'));
    if (focused !== undefined) [...list.querySelectorAll('button')].find((row) => row.dataset.server === focused)?.focus();
    const count = (word) => state.servers.filter((server) => server.state === word).length;
    const parts = [plural(state.servers.length, 'server'), `${count('connected')} connected`];
    if (count('failed')) parts.push(`${count('failed')} failed`);
    if (count('sign-in')) parts.push(`${count('sign-in')} to sign in`);
    $('summary').textContent = parts.join(' · ');
    drawServer();
  }

  function selectServer(name) {
    state.selected = name;
    drawServers(); drawTools(); drawCalls();
    if (state.tab === 'logs') followLog();
  }

  const ACTIONS = { reconnect: 'Reconnect', enable: 'Enable', disable: 'Disable', 'sign-in': 'Sign in' };

  function drawServer() {
    const card = $('server');
    const server = serverOf(state.selected);
    card.hidden = !server;
    if (!server) return;
    const focused = card.contains(document.activeElement) ? document.activeElement.dataset.action : undefined;
    const buttons = server.actions.map((action) => {
      const node = action === 'approve'
        ? button('Review', () => selectTab('trust'), 'primary')
        : button(ACTIONS[action], (event) => actOnServer(server.name, action, event.currentTarget),
          action === 'sign-in' || (action === 'reconnect' && server.state === 'failed') ? 'primary' : '');
      node.dataset.action = action;
      return node;
    });
    const tone = { connected: 'good', failed: 'bad', waiting: 'wait', 'sign-in': 'wait' }[server.state] || '';
    fill(card,
      el('div', { class: 'head' },
        el('h3', {}, server.name), el('span', { class: tone }, server.words),
        el('div', { class: 'buttons' }, ...buttons)),
      server.reason ? el('p', { class: server.state === 'failed' ? 'alert' : 'hint' }, server.reason) : null,
      el('p', { class: 'facts' },
        el('span', {}, `${server.scope} · ${server.transport}`), el('span', { class: 'mono' }, server.origin),
        server.protocol ? el('span', {}, `protocol ${server.protocol}`) : null,
        server.state === 'connected' ? el('span', {},
          `${plural(server.tools, 'tool')}, ${plural(server.prompts, 'prompt')}, ${plural(server.resources, 'resource')}`) : null,
        server.milliseconds && server.state === 'connected' ? el('span', {}, `connected in ${duration(server.milliseconds)}`) : null),
      server.stderr ? el('pre', { tabindex: '0', 'aria-label': 'Standard error' }, server.stderr) : null);
    if (focused) [...card.querySelectorAll('button')].find((node) => node.dataset.action === focused)?.focus();
  }

  async function actOnServer(server, action, node) {
    node.disabled = true;
    try {
      const answer = await post('/ui/api/server', { server, action });
      if (answer.page) {
        const link = pageLink(answer.page, 'Open the page');
        // The click that began this allows a window for a few seconds; the link stays in case it does not.
        if (link) window.open(link.href, '_blank', 'noopener,noreferrer');
        const code = answer.code ? ` Enter the code ${answer.code}.` : '';
        const other = answer.tokenOrigin ? ` Its token endpoint is at ${answer.tokenOrigin}.` : '';
        toast(`${answer.message}: ${new URL(answer.page).host}.${code}${other}`, link);
      } else {
        toast(answer.message);
      }
    } catch (error) {
      toast(error.message);
    }
    node.disabled = false;
  }

  // ---------------------------------------------------------------- tabs

  const TABS = ['tools', 'questions', 'calls', 'logs', 'trust'];

  function selectTab(name, withFocus) {
    state.tab = name;
    for (const tab of TABS) {
      const node = $(`tab-${tab}`);
      const isSelected = tab === name;
      node.setAttribute('aria-selected', String(isSelected));
      node.tabIndex = isSelected ? 0 : -1;
      $(`panel-${tab}`).hidden = !isSelected;
      if (isSelected && withFocus) node.focus();
    }
    if (name === 'logs') followLog(); else stopLog();
    if (name === 'calls') drawCalls();
    // A toast must not cover the form that it leads to.
    if (name === 'questions') for (const node of questionToasts.values()) node.remove();
  }

  function initTabs() {
    for (const tab of TABS) $(`tab-${tab}`).addEventListener('click', () => selectTab(tab));
    $('tabs').addEventListener('keydown', (event) => {
      const at = TABS.indexOf(state.tab);
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      selectTab(TABS[(next + TABS.length) % TABS.length], true);
    });
    $('servers').addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const rows = [...$('servers').querySelectorAll('button')];
      rows[rows.indexOf(document.activeElement) + step]?.focus();
    });
    document.addEventListener('keydown', (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        selectTab('tools');
        $('search').focus();
      }
    });
  }

  function setCount(tab, number, isHot) {
    const node = $(`count-${tab}`);
    node.textContent = number ? String(number) : '';
    node.classList.toggle('hot', Boolean(isHot && number));
  }

  // ---------------------------------------------------------------- forms from JSON Schema

  const SCALARS = ['string', 'number', 'integer', 'boolean'];
  const MOST_DEPTH = 5;

  /** Follows local references, single `allOf`, and alternatives with `null`. */
  function resolveSchema(schema, root, depth = 0) {
    if (!schema || typeof schema !== 'object' || depth > 8) return {};
    if (typeof schema.$ref === 'string') {
      if (!schema.$ref.startsWith('#/')) return {};
      let target = root;
      for (const part of schema.$ref.slice(2).split('/')) {
        const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
        target = target && Object.hasOwn(target, key) ? target[key] : undefined;
      }
      const { $ref, ...rest } = schema;
      return { ...resolveSchema(target, root, depth + 1), ...rest };
    }
    if (Array.isArray(schema.allOf) && schema.allOf.length === 1 && !schema.type) {
      const { allOf, ...rest } = schema;
      return { ...resolveSchema(allOf[0], root, depth + 1), ...rest };
    }
    for (const word of ['anyOf', 'oneOf']) {
      if (!Array.isArray(schema[word]) || schema.type) continue;
      const others = schema[word].filter((one) => one && one.type !== 'null');
      if (others.length === 1) {
        const { [word]: unused, ...rest } = schema;
        return { ...resolveSchema(others[0], root, depth + 1), ...rest };
      }
    }
    if (Array.isArray(schema.type)) {
      const others = schema.type.filter((type) => type !== 'null');
      if (others.length === 1) return { ...schema, type: others[0] };
    }
    return schema;
  }

  /** The choices of a schema as `{ value, text }`; null for other schemas. */
  function choicesOf(schema) {
    if (Array.isArray(schema.enum)) {
      const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
      return schema.enum.map((value, at) => ({ value, text: String(names[at] ?? (typeof value === 'string' ? value : JSON.stringify(value))) }));
    }
    if (Object.hasOwn(schema, 'const')) return [{ value: schema.const, text: String(schema.const) }];
    const options = schema.oneOf || schema.anyOf;
    if (Array.isArray(options) && options.length && options.every((one) => one && Object.hasOwn(one, 'const'))) {
      return options.map((one) => ({ value: one.const, text: String(one.title ?? one.const) }));
    }
    return null;
  }

  class FieldError extends Error {
    constructor(field, text) { super(text); this.field = field; }
  }

  /** A field: its node, and `read()`, which gives the value, or undefined if the field is empty. */
  function makeField(name, rawSchema, root, isRequired, depth) {
    const schema = resolveSchema(rawSchema, root);
    const choices = choicesOf(schema);
    const title = typeof schema.title === 'string' && schema.title ? schema.title : name;
    if (!choices && schema.type === 'object' && schema.properties && depth < MOST_DEPTH) {
      return objectField(title, name, schema, root, isRequired, depth);
    }
    const items = schema.type === 'array' ? resolveSchema(schema.items, root) : null;
    const itemChoices = items && choicesOf(items);
    if (!choices && itemChoices) return choiceListField(title, name, schema, itemChoices, isRequired);
    const id = freshId('field');
    const hintId = `${id}-hint`;
    let input;
    let kind = schema.type || 'JSON';
    if (choices) { input = choiceInput(choices, schema, isRequired); kind = 'choice'; }
    else if (schema.type === 'boolean') input = booleanInput(schema, isRequired);
    else if (schema.type === 'number' || schema.type === 'integer') input = numberInput(schema);
    else if (schema.type === 'string') input = textInput(schema);
    else if (items && SCALARS.includes(items.type)) { input = listInput(items, schema, title); kind = `list of ${items.type}`; }
    else { input = jsonInput(schema); kind = kind === 'JSON' ? 'JSON' : `${kind}, as JSON`; }
    input.control.id = id;
    input.control.setAttribute('aria-describedby', hintId);
    if (isRequired) input.control.setAttribute('aria-required', 'true');
    const error = el('p', { class: 'error', role: 'alert', hidden: true });
    input.control.addEventListener('input', () => { error.hidden = true; });
    const field = {
      name, isSimple: Boolean(choices) || SCALARS.includes(schema.type), type: schema.type,
      node: el('div', { class: 'field' },
        el('label', { for: id }, title, title === name ? '' : ` (${name})`, el('span', { class: 'type' }, `  ${kind}${isRequired ? ', required' : ''}`)),
        input.node || input.control,
        el('p', { class: 'hint', id: hintId }, describeSchema(schema)), error),
      read() {
        error.hidden = true;
        let value;
        try { value = input.read(); } catch (problem) { return field.fail(problem.message); }
        if (value === undefined && isRequired) return field.fail('This is required.');
        return value;
      },
      fail(text) {
        error.textContent = text;
        error.hidden = false;
        throw new FieldError(input.control, text);
      },
    };
    return field;
  }

  function describeSchema(schema) {
    const parts = [];
    if (typeof schema.description === 'string') parts.push(schema.description);
    if (schema.minimum !== undefined || schema.maximum !== undefined) {
      parts.push(`${schema.minimum ?? ''} to ${schema.maximum ?? ''}`.trim());
    }
    if (typeof schema.format === 'string') parts.push(`format ${schema.format}`);
    if (typeof schema.pattern === 'string') parts.push(`pattern ${schema.pattern}`);
    return parts.join(' · ');
  }

  function textInput(schema) {
    const isShort = schema.format || (schema.maxLength && schema.maxLength <= 80);
    const type = { email: 'email', date: 'date', uri: 'url', password: 'password' }[schema.format] || 'text';
    const control = isShort
      ? el('input', { type, maxlength: schema.maxLength, autocomplete: 'off', spellcheck: 'false' })
      : el('textarea', { rows: '1', spellcheck: 'false', on: {
        keydown: (event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          control.form?.requestSubmit();
        },
        input: () => { control.rows = Math.min(12, control.value.split('\n').length); },
      } });
    if (typeof schema.default === 'string') control.value = schema.default;
    return { control, read: () => (control.value === '' ? undefined : control.value) };
  }

  function numberInput(schema) {
    const isInteger = schema.type === 'integer';
    const control = el('input', { type: 'text', inputmode: isInteger ? 'numeric' : 'decimal', autocomplete: 'off' });
    if (typeof schema.default === 'number') control.value = String(schema.default);
    return { control, read() {
      const text = control.value.trim();
      if (text === '') return undefined;
      const value = Number(text);
      if (!Number.isFinite(value)) throw new Error('This is not a number.');
      if (isInteger && !Number.isInteger(value)) throw new Error('This is not a whole number.');
      if (isInteger && !Number.isSafeInteger(value)) throw new Error('This number is too large for a browser; use the command line.');
      return value;
    } };
  }

  function booleanInput(schema, isRequired) {
    if (isRequired || typeof schema.default === 'boolean') {
      const control = el('input', { type: 'checkbox', checked: schema.default === true });
      return { control, read: () => control.checked };
    }
    return choiceInput([{ value: true, text: 'true' }, { value: false, text: 'false' }], schema, false);
  }

  function choiceInput(choices, schema, isRequired) {
    const control = el('select', {});
    const preset = choices.findIndex((choice) => choice.value === schema.default);
    if (!isRequired || preset < 0) control.append(el('option', { value: '' }, isRequired ? 'choose' : 'not set'));
    choices.forEach((choice, at) => control.append(el('option', { value: String(at) }, choice.text)));
    if (preset >= 0) control.value = String(preset);
    return { control, read: () => (control.value === '' ? undefined : choices[Number(control.value)].value) };
  }

  function choiceListField(title, name, schema, choices, isRequired) {
    const preset = Array.isArray(schema.default) ? schema.default : [];
    const boxes = choices.map((choice) => ({ value: choice.value, box: el('input', { type: 'checkbox', checked: preset.includes(choice.value) }), text: choice.text }));
    const error = el('p', { class: 'error', role: 'alert', hidden: true });
    return { name, isSimple: false,
      node: el('fieldset', {}, el('legend', {}, title, el('span', { class: 'type' }, `  choices${isRequired ? ', required' : ''}`)),
        el('div', {}, ...boxes.map(({ box, text }) => el('label', { class: 'check' }, box, text))),
        schema.description ? el('p', { class: 'hint' }, String(schema.description)) : null, error),
      read() {
        const chosen = boxes.filter(({ box }) => box.checked).map(({ value }) => value);
        error.hidden = true;
        return chosen.length || isRequired ? chosen : undefined;
      } };
  }

  function listInput(items, schema, title) {
    const rows = [];
    const list = el('div', { class: 'items' });
    const add = (preset) => {
      const input = items.type === 'string' ? textInput({ maxLength: 1, ...items, default: preset })
        : items.type === 'boolean' ? booleanInput({ ...items, default: preset === true }, true)
          : numberInput({ ...items, default: preset });
      input.control.removeAttribute('maxlength');
      input.control.setAttribute('aria-label', `${title}, entry ${rows.length + 1}`);
      const row = { input, node: null };
      row.node = el('div', { class: 'row' }, input.control, button('Remove', () => {
        rows.splice(rows.indexOf(row), 1);
        row.node.remove();
        control.focus();
      }));
      rows.push(row);
      list.append(row.node);
      return input.control;
    };
    const control = button('Add an entry', () => add().focus());
    if (Array.isArray(schema.default)) schema.default.forEach(add);
    return { control, node: el('div', { class: 'items' }, list, el('div', {}, control)), read() {
      const values = rows.map((row) => row.input.read()).filter((value) => value !== undefined);
      return values.length ? values : undefined;
    } };
  }

  function jsonInput(schema) {
    const control = el('textarea', { class: 'json', rows: '3', spellcheck: 'false', placeholder: schema.type === 'array' ? '[]' : '{}' });
    if (schema.default !== undefined && schema.default !== null) control.value = JSON.stringify(schema.default, null, 2);
    return { control, read() {
      if (control.value.trim() === '') return undefined;
      try { return JSON.parse(control.value); } catch (error) { throw new Error(`This is not valid JSON: ${error.message}`); }
    } };
  }

  function objectField(title, name, schema, root, isRequired, depth) {
    const fields = makeFields(schema, root, depth + 1, !isRequired);
    return { name, isSimple: false,
      node: el('fieldset', {}, el('legend', {}, title, el('span', { class: 'type' }, `  object${isRequired ? ', required' : ''}`)),
        schema.description ? el('p', { class: 'hint' }, String(schema.description)) : null, ...fields.map((field) => field.node)),
      read() {
        const value = readFields(fields);
        return Object.keys(value).length || isRequired ? value : undefined;
      } };
  }

  /** The fields of an object; below an optional object no field is required. */
  function makeFields(schema, root, depth, isOptional) {
    const required = Array.isArray(schema.required) && !isOptional ? schema.required : [];
    return Object.entries(schema.properties || {}).map(([name, one]) => makeField(name, one, root, required.includes(name), depth));
  }

  function readFields(fields) {
    const value = {};
    for (const field of fields) {
      const one = field.read();
      if (one !== undefined) Object.defineProperty(value, field.name, { value: one, enumerable: true, configurable: true, writable: true });
    }
    return value;
  }

  /** The form of a schema: its fields, or one JSON field where the schema has no properties. */
  function makeForm(rawSchema) {
    const schema = resolveSchema(rawSchema, rawSchema);
    const names = Object.keys(schema.properties || {});
    if (names.length || schema.additionalProperties === false || !Object.keys(schema).some((key) => !['type', '$schema', 'properties', 'title', 'description'].includes(key))) {
      const fields = makeFields(schema, rawSchema, 0, false);
      return { node: el('div', { class: 'fields' }, ...fields.map((field) => field.node)), fields, read: () => readFields(fields) };
    }
    const field = makeField('arguments', { type: 'json', description: 'A JSON object' }, {}, false, 0);
    return { node: el('div', { class: 'fields' }, field.node), fields: [], read: () => field.read() ?? {} };
  }

  // ---------------------------------------------------------------- tools

  let toolsRevision = null;

  async function loadTools(revision) {
    if (revision === toolsRevision) return;
    toolsRevision = revision;
    try {
      const answer = await get('/ui/api/tools');
      state.tools = answer.tools;
      drawTools();
    } catch (error) {
      toolsRevision = null;
      toast(error.message);
    }
  }

  function matchesSearch(tool, words) {
    const text = `${tool.server} ${tool.tool} ${tool.title || ''} ${tool.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  const toolNodes = new Map();

  function drawTools() {
    const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = state.tools.filter((tool) => (!state.selected || tool.server === state.selected) && matchesSearch(tool, words));
    const known = new Set(state.tools.map((tool) => tool.name));
    for (const name of toolNodes.keys()) if (!known.has(name)) toolNodes.delete(name);
    const nodes = shown.map((tool) => {
      const text = JSON.stringify(tool);
      let drawn = toolNodes.get(tool.name);
      // A form that is open keeps what was typed, unless the tool itself has changed.
      if (!drawn || drawn.text !== text) {
        drawn = { text, node: toolNode(tool) };
        toolNodes.set(tool.name, drawn);
      }
      return drawn.node;
    });
    const focused = document.activeElement;
    const list = $('tools');
    if (list.childElementCount !== nodes.length || nodes.some((node, at) => list.children[at] !== node)) {
      fill(list, ...nodes);
      if (focused && focused !== document.activeElement && list.contains(focused)) focused.focus();
    }
    if (!nodes.length) {
      const isConnecting = state.servers.some((server) => server.state === 'waiting' && server.words.includes('connect'));
      fill(list, el('li', { class: 'empty' }, words.length ? 'No tool has these words.' : isConnecting ? 'Connecting to the servers…' : 'No tools here.'));
    }
    setCount('tools', shown.length);
  }

  function toolNode(tool) {
    const body = el('div', { class: 'body', id: freshId('tool'), hidden: true });
    const at = tool.signature.indexOf('(');
    const says = el('span', { class: 'says' }, tool.description);
    const head = el('button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': body.id, on: { click: () => toggle() } },
      el('span', { class: 'signature' }, el('b', {}, tool.signature.slice(0, at)), tool.signature.slice(at),
        el('span', { class: 'tags' },
          state.selected ? null : el('span', { class: 'tag' }, tool.server),
          tool.readOnly ? el('span', { class: 'tag good' }, 'read-only') : null,
          tool.destructive ? el('span', { class: 'tag bad' }, 'destructive') : null,
          tool.denied ? el('span', { class: 'tag bad' }, 'denied by a rule') : null)),
      says);
    let isLoaded = false;
    async function toggle() {
      body.hidden = !body.hidden;
      head.setAttribute('aria-expanded', String(!body.hidden));
      says.classList.toggle('whole', !body.hidden);
      if (body.hidden || isLoaded) return;
      isLoaded = true;
      try {
        const whole = await get(`/ui/api/tool?name=${encodeURIComponent(tool.name)}`);
        fill(body, callForm(whole));
        body.querySelector('input, textarea, select, button')?.focus();
      } catch (error) {
        isLoaded = false;
        fill(body, el('p', { class: 'alert' }, error.message));
      }
    }
    return el('li', { class: 'tool' }, el('h3', {}, head), body);
  }

  /** The form of a tool, with its result and the command that makes the same call. */
  function callForm(tool) {
    const form = makeForm(tool.schema);
    const result = el('div', { class: 'result', 'aria-live': 'polite' });
    const command = el('code', { tabindex: '0', 'aria-label': 'The same call as a command' }, commandLine(tool, form, {}));
    const call = el('button', { class: 'primary', type: 'submit', disabled: tool.denied }, 'Call');
    const stop = button('Cancel the call', () => abort.abort());
    stop.hidden = true;
    let abort = new AbortController();
    const update = () => { try { command.textContent = commandLine(tool, form, readQuietly(form)); } catch { /* a field is not valid yet */ } };
    const node = el('form', { class: 'result', novalidate: '', on: {
      input: update,
      submit: async (event) => {
        event.preventDefault();
        let values;
        try { values = form.read(); } catch (error) {
          if (!(error instanceof FieldError)) throw error;
          error.field.focus();
          return;
        }
        command.textContent = commandLine(tool, form, values);
        call.disabled = true;
        stop.hidden = false;
        abort = new AbortController();
        fill(result, el('p', { class: 'hint' }, 'Calling…'));
        try {
          fill(result, ...describeResult(await post('/ui/api/call', { name: tool.name, arguments: values }, abort.signal)));
        } catch (error) {
          fill(result, el('p', { class: 'alert' }, error.name === 'AbortError' ? 'The call was canceled.' : error.message));
        }
        call.disabled = false;
        stop.hidden = true;
      },
    } },
    form.node,
    el('div', { class: 'row' }, call, stop),
    el('div', { class: 'command' }, command, button('Copy', () => copyText(command.textContent))),
    result);
    update();
    return node;
  }

  /** The values of the fields that are valid. */
  function readQuietly(form) {
    const value = {};
    for (const field of form.fields) {
      try {
        const one = field.read();
        if (one !== undefined) value[field.name] = one;
      } catch { /* shown when the form is sent */ }
      field.node.querySelectorAll('.error').forEach((node) => { node.hidden = true; });
    }
    return value;
  }

  const shellWord = (text) => (/^[A-Za-z0-9_.,:=+@%\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  function commandLine(tool, form, values) {
    const words = ['mcparley', 'call', tool.server, tool.tool];
    for (const [name, value] of Object.entries(values)) {
      const field = form.fields.find((one) => one.name === name);
      const isPlain = field && field.isSimple && typeof value === (field.type === 'integer' ? 'number' : field.type)
        && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !(typeof value === 'string' && value.startsWith('@'));
      words.push(isPlain ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`);
    }
    return words.map(shellWord).join(' ');
  }

  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast('Copied');
    } catch {
      toast('The browser does not allow copying; select the text instead.');
    }
  }

  function describeResult(answer) {
    const took = el('p', { class: 'hint' }, `${answer.error || (answer.outcome && answer.outcome.isError) ? 'failed' : 'done'} in ${duration(answer.milliseconds)}`);
    if (answer.error) return [took, el('p', { class: 'alert' }, answer.error), answer.hint ? el('p', { class: 'hint' }, answer.hint) : null].filter(Boolean);
    const blocks = answer.outcome.blocks.flatMap(describeBlock);
    if (!blocks.length) blocks.push(el('p', { class: 'hint' }, 'no content'));
    return [took, answer.outcome.isError ? el('p', { class: 'alert' }, 'The tool reports an error:') : null, ...blocks].filter(Boolean);
  }

  function describeBlock(block) {
    const title = block.title ? [el('p', { class: 'hint' }, block.title)] : [];
    switch (block.kind) {
      case 'image': return [...title, el('img', { src: `data:${block.mime};base64,${block.data}`, alt: 'Image of the result' })];
      case 'json': return [el('pre', { tabindex: '0' }, JSON.stringify(block.value, null, 2))];
      case 'note': return [el('p', { class: 'hint' }, block.text)];
      default: return [...title, el('pre', { tabindex: '0' }, block.text)];
    }
  }

  // ---------------------------------------------------------------- questions

  const questionNodes = new Map();
  const questionToasts = new Map();

  function drawQuestions() {
    const root = $('questions');
    const ids = new Set(state.questions.map((question) => question.id));
    for (const [id, node] of questionNodes) {
      if (ids.has(id)) continue;
      node.remove();
      questionNodes.delete(id);
      questionToasts.get(id)?.remove();
      questionToasts.delete(id);
    }
    for (const question of state.questions) {
      if (questionNodes.has(question.id)) continue;
      const node = questionNode(question);
      questionNodes.set(question.id, node);
      root.append(node);
      if (state.tab !== 'questions') {
        questionToasts.set(question.id, toast(`${question.server || 'mcparley'} asks about ${question.tool}`, button('Answer', () => {
          selectTab('questions');
          node.querySelector('input, textarea, select, button')?.focus();
        })));
      }
    }
    root.querySelector('.empty')?.remove();
    if (!state.questions.length) root.append(el('p', { class: 'empty' }, 'No question is open.'));
    setCount('questions', state.questions.length, true);
  }

  function questionNode(question) {
    const error = el('p', { class: 'alert', role: 'alert', hidden: true });
    const send = async (answer) => {
      error.hidden = true;
      try { await post('/ui/api/answer', { id: question.id, answer }); } catch (problem) {
        error.textContent = problem.message;
        error.hidden = false;
      }
    };
    const kinds = { permission: 'Permission', form: 'asks', page: 'wants you to open a page', sampling: 'asks for the answer of a model' };
    const from = question.own && question.client === 'web page' ? 'your call on this page' : `${question.client || 'a client'} (${question.principal})`;
    const title = question.kind === 'permission' ? `Permission for ${question.server || 'mcparley'} · ${question.tool}` : `${question.server} ${kinds[question.kind]}`;
    const details = question.details || {};
    const parts = {
      permission: () => permissionParts(details.permission || {}, send),
      form: () => formParts(details.form || {}, send),
      page: () => pageParts(details.page || {}, send),
      sampling: () => samplingParts(details.sampling || {}, send),
    }[question.kind]();
    return el('article', { class: 'card question', 'aria-label': title, 'data-question': question.id },
      el('div', { class: 'head' }, el('h3', {}, title), el('span', { class: 'hint' }, `${from} · ${question.tool} · ${question.id}`)),
      ...parts.filter(Boolean), error);
  }

  function pairs(values) {
    const list = el('dl', { class: 'pairs' });
    for (const [name, value] of Object.entries(values || {})) {
      list.append(el('dt', {}, name), el('dd', {}, typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
    }
    return list;
  }

  function permissionParts(summary, send) {
    const hints = summary.hints || {};
    const reason = el('input', { type: 'text', id: freshId('deny'), maxlength: '500' });
    return [
      summary.description ? el('p', {}, summary.description) : null,
      hints.read_only || hints.readOnly ? el('p', { class: 'good' }, 'The server declares it read-only.') : el('p', { class: 'wait' }, 'It may change something.'),
      Object.keys(summary.arguments || {}).length ? pairs(summary.arguments) : el('p', { class: 'hint' }, 'without arguments'),
      summary.change ? el('pre', { tabindex: '0' }, `The tool has changed since it was last reviewed:\n${summary.change}`) : null,
      el('p', { class: 'hint' }, `Asked because of ${summary.reason}.`),
      el('div', { class: 'row' },
        button('Allow once', () => send({ action: 'allow' }), 'primary'),
        summary.offersAlways ? button('Always allow this tool', () => send({ action: 'always-tool', scope: 'private' })) : null,
        summary.offersAlways ? button(`Always allow ${summary.server}`, () => send({ action: 'always-server', scope: 'private' })) : null,
        button('Deny', () => send({ action: 'deny', message: reason.value || null }), 'danger')),
      el('div', { class: 'field' }, el('label', { for: reason.id }, 'Reason, if you deny it'), reason),
    ];
  }

  function formParts(params, send) {
    const form = makeForm(params.requestedSchema || {});
    return [
      el('p', {}, String(params.message || '')),
      el('form', { class: 'result', novalidate: '', on: { submit: (event) => {
        event.preventDefault();
        try { send({ action: 'accept', content: form.read() }); } catch (error) {
          if (!(error instanceof FieldError)) throw error;
          error.field.focus();
        }
      } } }, form.node,
      el('div', { class: 'row' }, el('button', { class: 'primary', type: 'submit' }, 'Send'),
        button('Decline', () => send({ action: 'decline' })), button('Dismiss', () => send({ action: 'cancel' })))),
    ];
  }

  function pageParts(params, send) {
    const address = String(params.url || '');
    const link = pageLink(address, 'Open the page, and go on');
    link?.addEventListener('click', () => send({ action: 'accept' }));
    let host = '';
    try { host = new URL(address).host; } catch { /* shown as it is */ }
    const at = host ? address.indexOf(host) : -1;
    return [
      el('p', {}, String(params.message || '')),
      el('p', { class: 'address' }, ...(at < 0 ? [address] : [address.slice(0, at), el('b', {}, host), address.slice(at + host.length)])),
      address.startsWith('http:') ? el('p', { class: 'wait' }, 'The connection to this page is not encrypted.') : null,
      host.includes('xn--') ? el('p', { class: 'bad' }, 'The name of the host has characters that may look like others.') : null,
      el('div', { class: 'row' }, link, button('Decline', () => send({ action: 'decline' }), 'danger')),
    ];
  }

  function samplingParts(params, send) {
    const reply = el('textarea', { id: freshId('reply'), rows: '4' });
    const text = (content) => (Array.isArray(content) ? content : [content]).map((block) => (block && typeof block.text === 'string' ? block.text : `[${(block && block.type) || 'content'}]`)).join('\n');
    const messages = Array.isArray(params.messages) ? params.messages : [];
    return [
      params.systemPrompt ? el('pre', { tabindex: '0' }, `system: ${params.systemPrompt}`) : null,
      ...messages.map((message) => el('pre', { tabindex: '0' }, `${message.role}: ${text(message.content)}`)),
      el('div', { class: 'field' }, el('label', { for: reply.id }, 'Your answer in place of a model'), reply),
      el('div', { class: 'row' },
        button('Send', () => send({ action: 'accept', content: { role: 'assistant', model: 'a person', stopReason: 'endTurn', content: { type: 'text', text: reply.value } } }), 'primary'),
        button('Decline', () => send({ action: 'decline' }), 'danger')),
    ];
  }

  // ---------------------------------------------------------------- calls

  const PLOTTED = 150;

  function drawCalls() {
    const isShown = (call) => !state.selected || call.server === state.selected;
    const running = state.calls.running.filter(isShown);
    const finished = state.calls.finished.filter(isShown);
    setCount('calls', finished.length + running.length);
    if (!running.length && !finished.length) {
      return fill($('calls'), el('p', { class: 'empty' }, 'No calls yet. Calls of this page and of all clients of this program are listed here.'));
    }
    const rows = [
      ...running.map((call) => ({ ...call, outcome: 'running' })),
      ...finished,
    ].map((call) => el('tr', {},
      el('td', { class: 'when' }, clock(call.began)),
      el('td', {}, call.server),
      el('td', { class: 'mono' }, call.tool),
      el('td', { class: 'number' }, call.milliseconds === undefined ? '' : duration(call.milliseconds)),
      el('td', { class: { ok: 'good', running: 'wait' }[call.outcome] || 'bad' },
        call.outcome, call.reason ? el('span', { class: 'hint' }, `: ${call.reason}`) : '')));
    const head = [['when', 'Time'], ['', 'Server'], ['', 'Tool'], ['number', 'Duration'], ['', 'Outcome']];
    fill($('calls'),
      finished.length ? latencyPlot(finished.slice(0, PLOTTED).reverse()) : null,
      el('div', { class: 'scroll', tabindex: '0', 'aria-label': 'Calls' }, el('table', {},
        el('thead', {}, el('tr', {}, ...head.map(([kind, text]) => el('th', { class: kind, scope: 'col' }, text)))),
        el('tbody', {}, ...rows))));
  }

  /** A scatter plot of durations on a logarithmic scale, oldest call left. */
  function latencyPlot(calls) {
    // Drawn in real pixels, so that its text has one size in every window.
    const [width, height, left, bottom, top] = [Math.max(320, $('main').clientWidth), 190, 62, 24, 28];
    const times = calls.map((call) => Math.max(call.milliseconds, 0.1));
    const low = Math.floor(Math.log10(Math.min(...times)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...times))));
    const y = (milliseconds) => top + (height - top - bottom) * (1 - (Math.log10(milliseconds) - low) / (high - low));
    const x = (at) => left + 12 + (width - left - 30) * (calls.length === 1 ? 0.5 : at / (calls.length - 1));
    const sorted = [...times].sort((one, other) => one - other);
    const share = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
    const summary = `${plural(calls.length, 'call')} · median ${duration(share(0.5))} · 95 % within ${duration(share(0.95))}`;
    const plot = svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Durations. ${summary}` });
    for (let power = low; power <= high; power += 1) {
      const at = y(10 ** power);
      plot.append(svg('line', { x1: left, x2: width - 10, y1: at, y2: at }), svg('text', { x: left - 8, y: at + 4, 'text-anchor': 'end' }, duration(10 ** power)));
    }
    calls.forEach((call, at) => {
      const dot = svg('circle', { cx: x(at), cy: y(times[at]), r: 4, class: call.outcome === 'ok' ? '' : 'bad' });
      dot.append(svg('title', {}, `${call.server} ${call.tool}: ${duration(call.milliseconds)}, ${call.outcome}`));
      plot.append(dot);
    });
    plot.append(svg('text', { x: 10, y: 16 }, summary), svg('text', { x: width - 10, y: height - 6, 'text-anchor': 'end' }, 'newest'), svg('text', { x: left, y: height - 6 }, 'oldest'));
    return plot;
  }

  // ---------------------------------------------------------------- logs

  const MOST_LINES = 3000;
  let logAbort = null;

  function stopLog() {
    logAbort?.abort();
    logAbort = null;
    state.logOf = null;
  }

  function followLog() {
    const server = state.selected || state.servers.find((one) => one.state === 'failed')?.name || state.servers[0]?.name;
    if (!server || state.logOf === server) return;
    stopLog();
    state.logOf = server;
    logAbort = new AbortController();
    const box = $('log');
    fill(box, el('p', { class: 'empty' }, 'No lines yet. A log is written after trouble or output of the server.'));
    $('log-hint').textContent = `Log of ${server}; new lines follow. Select a server for another one.`;
    const show = (name, lines) => {
      const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 40;
      box.querySelector('.empty')?.remove();
      box.append(...lines.map(logLine));
      while (box.childElementCount > MOST_LINES) box.firstChild.remove();
      if (isAtEnd) box.scrollTop = box.scrollHeight;
    };
    const signal = logAbort.signal;
    readEvents(`/ui/api/logs?server=${encodeURIComponent(server)}`, signal, () => {}, show)
      .catch((error) => { if (!signal.aborted) toast(error.message); });
  }

  function logLine(line) {
    const isBad = ['error', 'critical', 'alert', 'emergency'].includes(line.level);
    const from = [line.from, line.level, line.logger].filter(Boolean).join(' ');
    return el('div', { class: isBad ? 'bad' : '' }, el('time', {}, clock(line.unixMilliseconds)), ' ', el('span', { class: 'from' }, `${from}  `), line.text);
  }

  // ---------------------------------------------------------------- trust

  function drawTrust() {
    const { items, folder } = state.trust;
    setCount('trust', items.length, true);
    if (!items.length) return fill($('trust'), el('p', { class: 'empty' }, `Nothing in ${folder || 'this folder'} waits for approval.`));
    const boxes = items.map((item) => el('input', { type: 'checkbox', value: item.id, id: freshId('item') }));
    const decide = async (decision) => {
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      if (!chosen.length) return toast('Check at least one item.');
      try { toast((await post('/ui/api/trust', { decision, items: chosen })).message); } catch (error) { toast(error.message); }
    };
    const cards = items.map((item, at) => el('article', { class: 'card' },
      el('div', { class: 'head' }, boxes[at], el('h3', {}, el('label', { for: boxes[at].id }, el('span', { class: 'tag' }, item.kind), ' ', item.summary))),
      item.runs ? el('p', { class: 'hint mono' }, `would run: ${item.runs}`) : null,
      el('p', { class: 'hint mono' }, item.origin),
      ...item.cautions.map((caution) => el('p', { class: 'alert' }, caution)),
      el('details', {}, el('summary', {}, 'The whole item'),
        pairs(Object.fromEntries(item.fields.map((field) => [field.name, field.runs ? `${field.written}\nruns as: ${field.runs}` : field.written]))))));
    fill($('trust'),
      el('p', { class: 'hint' }, `The configuration in ${folder} brings these items. None has an effect until you approve it.`),
      ...cards,
      el('div', { class: 'row' }, button('Approve what is checked', () => decide('approve'), 'primary'), button('Reject what is checked', () => decide('reject'), 'danger')));
  }

  // ---------------------------------------------------------------- connection

  const HANDLERS = {
    about(about) {
      $('project').textContent = about.project;
      document.title = `mcparley · ${about.project.split('/').pop()}`;
    },
    servers(value) { state.servers = value.servers; drawServers(); if (state.tab === 'logs') followLog(); if (!state.tools.length) drawTools(); },
    tools(value) { loadTools(value.revision); },
    questions(value) { state.questions = value.questions; drawQuestions(); },
    calls(value) { state.calls = value; drawCalls(); },
    trust(value) { state.trust = value; drawTrust(); },
    notice(value) { toast(value.message); },
  };

  function setLink(word, text) {
    $('link').dataset.state = word;
    $('link').textContent = text;
  }

  function showGate(text) {
    $('gate').hidden = false;
    $('layout').hidden = true;
    if (text) $('gate-text').textContent = text;
    $('gate-token').focus();
  }

  async function openSession(token) {
    await readAnswer(await fetch('/ui/session', {
      method: 'POST', headers: { ...HEADERS, 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }, body: '{}',
    }));
    $('gate').hidden = true;
    $('layout').hidden = false;
  }

  /** Follows the events of the program, and connects again when the connection is lost. */
  async function followEvents() {
    for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
      try {
        await readEvents('/ui/events', undefined, () => { pause = 500; setLink('live', 'live'); }, (name, value) => HANDLERS[name]?.(value));
      } catch (error) {
        if (error.status === 401) {
          setLink('lost', 'signed out');
          showGate();
          return;
        }
      }
      setLink('lost', 'connection lost; is mcparley still running?');
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async function start() {
    initTabs();
    $('search').addEventListener('input', drawTools);
    $('gate-form').addEventListener('submit', async (event) => {
      event.preventDefault();
      try {
        await openSession($('gate-token').value.trim());
        $('gate-token').value = '';
        followEvents();
      } catch (error) {
        showGate(error.message);
      }
    });
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    if (token) {
      // The token is used once, and must not stay in the history.
      history.replaceState(null, '', location.pathname);
      try { await openSession(token); } catch { /* an older session may still be valid */ }
    }
    followEvents();
  }

  start();
})();
