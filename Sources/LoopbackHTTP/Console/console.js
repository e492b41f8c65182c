'use strict';
// The token and the requests.

const base = '/cloudsync/1/';
const key = 'cloudsync-control-token';
const at = id => document.getElementById(id);
let token = '';

class Refused extends Error {
  constructor(status, reason, code) { super(reason); Object.assign(this, {status, code}); }
}

// Numbers that a script can't hold exactly stay texts.
function parse(text) {
  return JSON.parse(text, (name, value, {source} = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? source : value);
}

// A number as it was typed.
class Literal {
  constructor(text) { this.text = text; }
}

function encode(value) {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return '[' + value.map(encode).join(',') + ']';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return '{' + members.map(([name, one]) => JSON.stringify(name) + ':' + encode(one)).join(',')
    + '}';
}

async function ask(path, query, body) {
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined);
  const parts = given.map(pair => pair.map(encodeURIComponent).join('='));
  const options = {
    headers: {authorization: 'Bearer ' + token}, cache: 'no-store', credentials: 'omit',
  };
  if (body) {
    options.method = 'POST';
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const address = base + path + (parts.length ? '?' + parts.join('&') : '');
  const answer = await fetch(address, options);
  const json = await answer.json().catch(() => ({reason: 'no answer in JSON'}));
  if (!answer.ok) throw new Refused(answer.status, json.reason || 'status ' + answer.status);
  return json;
}

// Requests of an account to the web services, as of a device called "console".

const sessions = new Map();

async function session(account) {
  if (!sessions.has(account)) sessions.set(account, await ask('sign-in', null, {account}));
  return sessions.get(account);
}

// The account that a request for a place is sent by: the named one, the owner of the database, or
// the chosen one.
function actor(place) {
  return place.as || (place.scope !== 'public' && place.account) || state.acting;
}

async function serve(place, operation, body, tries = 0) {
  const account = actor(place);
  if (!account) throw new Refused(400, 'There is no account to act as; add one.');
  const {webAuthToken, apiToken} = await session(account);
  const path = ['/database/1', place.container, place.environment, place.scope]
    .map((part, index) => index ? encodeURIComponent(part) : part).join('/') + '/' + operation;
  const tokens = new URLSearchParams(
    {ckAPIToken: apiToken, ckWebAuthToken: webAuthToken, clientId: ownDevice});
  const answer = await fetch(path + '?' + tokens, {
    method: 'POST', body: encode(body), cache: 'no-store', credentials: 'omit',
    headers: {'content-type': 'application/json'},
  });
  const json = await answer.text().then(parse)
    .catch(() => ({reason: 'no answer in JSON'}));
  // An import or a reset changes the tokens.
  if ([401, 421].includes(answer.status) && !tries) {
    sessions.delete(account);
    return serve(place, operation, body, 1);
  }
  if (!answer.ok) throw refusal(json, answer.status);
  return json;
}

// The server's own words, with its code. The status is not that of the control token.
function refusal(json, status) {
  const code = json.serverErrorCode ? ' (' + json.serverErrorCode + ')' : '';
  return new Refused(status === 401 ? 421 : status, (json.reason || 'status ' + status) + code,
    json.serverErrorCode);
}

const ownDevice = 'console';

// The fragment never leaves the browser; once read it leaves the address bar too.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null) {
    history.replaceState(null, '', location.pathname);
    sessionStorage.setItem(key, given);
  }
  token = sessionStorage.getItem(key) || '';
}

function forget(reason) {
  sessionStorage.removeItem(key);
  token = '';
  sessions.clear();
  at('contents').hidden = at('leave').hidden = at('actingLine').hidden = true;
  at('tokenForm').hidden = false;
  at('refused').textContent = reason || '';
  at('totals').textContent = '';
  live('off', 'Not connected');
  at('token').value = '';
  at('token').focus();
}

function live(state, text) {
  const place = at('live');
  if (place.dataset.state === state && place.textContent === text) return;
  place.dataset.state = state;
  place.textContent = text;
}

// Elements, lists that keep what did not change, and values as text.

function make(tag, settings, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') element.addEventListener(value[0], value[1]);
    else if (name === 'class') element.className = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== undefined && child !== null)
    .flatMap(child => typeof child === 'string' ? visible(child) : [child]));
  return element;
}

const span = (kind, text) => make('span', {class: kind}, text);

// Elements of unchanged items are kept, and with them focus and scroll position.
function fill(parent, items, name, build) {
  const old = new Map([...parent.children].map(node => [node.itemName, node]));
  const focused = document.activeElement;
  const focusName = focused && parent.contains(focused) ? focused.dataset.name : undefined;
  let next = parent.firstElementChild;
  for (const item of items) {
    const itemName = name(item);
    const mark = JSON.stringify(item);
    let node = old.get(itemName);
    old.delete(itemName);
    if (!node || node.itemMark !== mark) {
      const fresh = build(item, node);
      Object.assign(fresh, {itemName, itemMark: mark});
      if (node) {
        if (next === node) next = fresh;
        node.replaceWith(fresh);
      }
      node = fresh;
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  for (const node of old.values()) node.remove();
  if (focusName && !parent.contains(document.activeElement)) {
    const again = [...parent.querySelectorAll('[data-name]')]
      .find(node => node.dataset.name === focusName);
    if (again) again.focus();
  }
}

function size(bytes) {
  if (bytes < 1000) return bytes + ' B';
  if (bytes < 1e6) return (bytes / 1e3).toFixed(1) + ' kB';
  return (bytes / 1e6).toFixed(1) + ' MB';
}

const two = number => String(number).padStart(2, '0');

function clock(milliseconds) {
  const date = new Date(Number(milliseconds));
  if (isNaN(date)) return make('span', {}, String(milliseconds));
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const today = new Date().toDateString() === date.toDateString();
  return make(
    'time', {datetime: date.toISOString(), title: day + ' ' + time},
    today ? time : day + ' ' + time);
}

function plain(value, type) {
  if (value === null || value === undefined) return 'not a number';
  if (Array.isArray(value)) {
    const inner = type.replace(/_LIST$/, '');
    return value.length ? value.map(one => plain(one, inner)).join('\n') : 'empty list';
  }
  switch (type) {
  case 'TIMESTAMP': {
    const date = new Date(Number(value));
    return isNaN(date) ? String(value) : date.toISOString().replace('T', ' ');
  }
  case 'BYTES': {
    const length = value.length / 4 * 3 - (value.match(/=*$/)[0].length);
    return size(length) + '  ' + value.slice(0, 96) + (value.length > 96 ? '…' : '');
  }
  case 'REFERENCE':
    return '→ ' + value.recordName + (value.action === 'DELETE_SELF' ? '  (owned)' : '');
  case 'ASSETID':
    return 'file of ' + size(Number(value.size) || 0) + '  '
      + (value.fileChecksum || '').slice(0, 12);
  case 'LOCATION': return value.latitude + ', ' + value.longitude;
  default: return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + '…' : text;
}
