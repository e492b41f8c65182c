// Forms for records: a field of each type, and lists of them.

const fieldTypes = [
  ['STRING', 'text'], ['INT64', 'whole number'], ['DOUBLE', 'number'], ['TIMESTAMP', 'date'],
  ['BYTES', 'bytes'], ['REFERENCE', 'reference'], ['LOCATION', 'location'], ['ASSETID', 'file'],
];
const hints = {
  STRING: '', INT64: '42', DOUBLE: '2.5', TIMESTAMP: '2026-11-23T10:00:00Z',
  BYTES: 'base64, such as 3q2+7w==', REFERENCE: 'name of a record',
  LOCATION: 'latitude, longitude',
};
// A value of each type, in words and as an example, for a text that stands for none.
const wanted = {
  INT64: ['a whole number', '42'], DOUBLE: ['a number', '2.5'],
  TIMESTAMP: ['a date', '2026-11-23T10:00:00Z'], BYTES: ['bytes in base64', '3q2+7w=='],
  REFERENCE: ['the name of a record', 'groceries'], LOCATION: ['a location', '48.2, 16.4'],
};
const fieldNameForm = /^[A-Za-z][A-Za-z0-9_$]{0,254}$/;
const base64Form = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const wholeForm = /^-?\d{1,19}$/;
const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;
const dateForm = new RegExp('^((?:\\d{4}|[+-]\\d{6})-\\d\\d-(\\d\\d))'
  + '(?:[T ](\\d\\d:\\d\\d[\\d:.]*))?(Z|[+-]\\d\\d:\\d\\d)?$', 'i');

// The milliseconds of a date, which is in UTC if it names no zone; NaN if there is no such date.
function millisecondsOf(text) {
  const [, date, day, time = '00:00', zone = 'Z'] = dateForm.exec(text) || [];
  // Browsers take 30 February for 2 March.
  const isThere = new Date(date + 'T00:00Z').getUTCDate() === Number(day);
  return isThere ? Date.parse((date + 'T' + time + zone).toUpperCase()) : NaN;
}

function typeWords(type) {
  const inner = type.replace(/_LIST$/, '');
  const words = (fieldTypes.find(([name]) => name === inner) || [inner, inner.toLowerCase()])[1];
  return inner === type ? words : 'list: ' + words;
}

// The value that a text stands for; the text itself, if it stands for none.
function typedValue(text, type) {
  const clean = text.trim();
  switch (type) {
  case 'INT64': case 'DOUBLE': return numberForm.test(clean) ? new Literal(clean) : text;
  case 'TIMESTAMP': {
    const time = millisecondsOf(clean);
    return isNaN(time) ? text : time;
  }
  case 'REFERENCE': return {recordName: text, action: 'NONE'};
  case 'LOCATION': {
    const [latitude, longitude, ...more] = clean.split(',').map(part => part.trim());
    const good = !more.length && [latitude, longitude].every(part => numberForm.test(part));
    return good ? {latitude: new Literal(latitude), longitude: new Literal(longitude)} : text;
  }
  default: return text;
  }
}

// The value of a field's input; a text that stands for none is refused with the field's name.
function checkedValue(text, type, label) {
  const clean = text.trim();
  const value = type === 'BYTES' ? clean : typedValue(text, type);
  const isWhole = () => wholeForm.test(clean) && BigInt.asIntN(64, BigInt(clean)) == BigInt(clean);
  const fits = type === 'INT64' ? isWhole() : type === 'BYTES' ? base64Form.test(clean)
    : type === 'REFERENCE' ? text !== '' : type === 'STRING' || value !== text;
  if (fits) return value;
  const [words, example] = wanted[type];
  throw new Refused(400, label + ': ' + (clean ? '“' + cut(clean, 40) + '” is not ' : 'enter ')
    + words + ', such as ' + example + '.');
}

function editedText(value, type) {
  if (value === undefined || value === null) return '';
  if (type === 'TIMESTAMP') return plain(value, type).replace(' ', 'T');
  if (type === 'REFERENCE') return value.recordName;
  if (type === 'LOCATION') return value.latitude + ', ' + value.longitude;
  return String(value);
}

const actions = [['NONE', 'refers'], ['DELETE_SELF', 'is owned'], ['VALIDATE', 'must exist']];

// The inputs of values: `name` gives one its label, `read` returns its value, which is the very one
// that it was made for until it is changed, and `mark` tells whether it was. `upload` is given a
// file and returns what the server calls it.

function fileInput(value) {
  const input = make('input', {type: 'file'});
  return {
    element: make('div', {class: 'stack'}, value ? span('dim', plain(value, 'ASSETID')) : null,
      input),
    name: label => input.setAttribute('aria-label', label),
    read: async (label, upload) => {
      if (input.files.length) return upload(input.files[0]);
      if (value) return value;
      throw new Refused(400, label + ': choose a file.');
    },
    mark: () => [...input.files].map(file => file.name + file.size + file.lastModified),
  };
}

function textInput(value, type) {
  const text = editedText(value, type);
  const long = type === 'STRING' && (text.length > 60 || /[\r\n]/.test(text));
  const input = make(long || type === 'BYTES' ? 'textarea' : 'input', {
    placeholder: hints[type], rows: long ? '5' : type === 'BYTES' && '2',
    autocomplete: 'off', spellcheck: type === 'STRING' ? null : 'false', dir: 'auto',
  });
  input.value = text;
  // The input may show another text than it was given, such as one with other line ends.
  const shown = input.value;
  const isKnown = value !== undefined && value !== null;
  return {
    element: input,
    name: label => input.setAttribute('aria-label', label),
    read: async label => {
      if (isKnown && input.value === shown) return value;
      const typed = checkedValue(input.value, type, label);
      // A location has more parts than those that are typed.
      return type === 'LOCATION' ? {...value, ...typed} : typed;
    },
    mark: () => input.value,
  };
}

function referenceInput(value) {
  const target = textInput(value, 'REFERENCE');
  const action = make('select', {}, ...actions.map(([name, words]) => make('option',
    {value: name, selected: value && value.action === name}, words)));
  return {
    element: make('div', {class: 'pair'}, target.element, action),
    name: label => {
      target.name(label);
      action.setAttribute('aria-label', label + ': what the reference does');
    },
    read: async label => ({zoneID: value && value.zoneID, ...await target.read(label),
      action: action.value}),
    mark: () => [target.mark(), action.value],
  };
}

function valueInput(value, type) {
  return type === 'ASSETID' ? fileInput(value) : type === 'REFERENCE' ? referenceInput(value)
    : textInput(value, type);
}

function listInput(values, type) {
  const inner = type.replace(/_LIST$/, '');
  const rows = [];
  const list = make('ol', {class: 'items', 'data-none': 'No items.'});
  let label = '';
  const item = index => label + ', item ' + (index + 1);
  const number = () => rows.forEach(({input, remove}, index) => {
    input.name(item(index));
    remove.setAttribute('aria-label', 'Remove item ' + (index + 1) + ' of ' + label);
  });
  const add = value => {
    const row = {input: valueInput(value, inner)};
    row.remove = button('Remove', '', {}, () => {
      rows.splice(rows.indexOf(row), 1);
      row.line.remove();
      number();
      more.focus();
    });
    row.line = make('li', {}, row.input.element, row.remove);
    rows.push(row);
    list.append(row.line);
    return row.input;
  };
  for (const value of values || []) add(value);
  const more = button('Add item', '', {}, () => {
    const {element} = add();
    number();
    (element.matches('input, textarea') ? element : element.querySelector('input')).focus();
  });
  return {
    element: make('div', {class: 'stack'}, list, more),
    name: words => {
      label = words;
      more.setAttribute('aria-label', 'Add item to ' + label);
      number();
    },
    read: async (_, upload) => Promise.all(
      rows.map(({input}, index) => input.read(item(index), upload))),
    mark: () => rows.map(({input}) => input.mark()),
  };
}

// The form of one field.
function fieldForm({name, type: given, value, isEncrypted, isNew, recordType}) {
  const type = isNew ? given : typeOf(recordType(), name, {value, type: given});
  const input = type.endsWith('_LIST') ? listInput(value, type) : valueInput(value, type);
  input.name(name);
  const first = JSON.stringify(input.mark());
  const form = {name, type, isEncrypted, isNew, input, isGone: false};
  form.read = async upload => {
    const read = await input.read(name, upload);
    if (isNew && Array.isArray(read) && !read.length && !schemaField(recordType(), name)) {
      throw new Refused(400, name + ': add an item, or remove the field; the first item of a new '
        + 'list decides its type.');
    }
    return read;
  };
  form.changed = () => isNew || form.isGone || JSON.stringify(input.mark()) !== first;
  const remove = button('Remove', '', {'aria-label': 'Remove field ' + name}, () => {
    form.isGone = !form.isGone;
    form.element.classList.toggle('gone', form.isGone);
    remove.textContent = form.isGone ? 'Keep' : 'Remove';
    remove.setAttribute('aria-label', remove.textContent + ' field ' + name);
  });
  form.element = make('div', {class: 'edited'},
    make('div', {class: 'label'}, nameOf(name),
      span('kind', typeWords(type) + (isEncrypted ? ', encrypted' : ''))),
    input.element, remove);
  return form;
}

// A field as the schema has it, if it knows its type.
function schemaField(recordType, name) {
  const known = state.schema.recordTypes.find(one => one.recordType === recordType);
  return known && known.fields.find(one => one.name === name && one.kind);
}

const elementTypes = {
  string: 'STRING', int64: 'INT64', double: 'DOUBLE', date: 'TIMESTAMP', bytes: 'BYTES',
  reference: 'REFERENCE', asset: 'ASSETID', location: 'LOCATION',
};

// The type of a field: the server calls every empty list one of texts.
function typeOf(recordType, name, {value, type}) {
  const isEmpty = Array.isArray(value) && !value.length;
  const {element} = (isEmpty && schemaField(recordType, name)) || {};
  return element ? elementTypes[element] + '_LIST' : type;
}

function newFieldRow(add) {
  const wrong = make('p', {role: 'alert'});
  const name = make('input', {'aria-label': 'New field', placeholder: 'new field',
    autocomplete: 'off', spellcheck: 'false'});
  const type = make('select', {'aria-label': 'Type of the new field'},
    ...fieldTypes.map(([value, words]) => make('option', {value}, words)),
    ...fieldTypes.map(([value, words]) => make('option', {value: value + '_LIST'},
      'list: ' + words)));
  const encrypted = make('input', {type: 'checkbox'});
  const go = () => {
    const field = name.value.trim();
    wrong.textContent = '';
    if (!field) { name.focus(); return; }
    if (!fieldNameForm.test(field)) {
      wrong.replaceChildren('A field can’t be called “', nameOf(field), '”: a name has 1 to 255 '
        + 'ASCII letters, digits or underscores, a letter first.');
      name.focus();
      return;
    }
    if (!add({name: field, type: type.value, isEncrypted: encrypted.checked})) {
      wrong.replaceChildren('There is a field “', nameOf(field), '” already.');
      name.focus();
      return;
    }
    name.value = '';
    encrypted.checked = false;
  };
  name.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); go(); }
  });
  return {
    element: make('div', {}, make('div', {class: 'row'}, name, type,
      make('label', {class: 'check'}, encrypted, 'encrypted'),
      button('Add field', '', {}, go)), wrong),
    typed: () => name.value.trim(),
  };
}

// Uploads a file for a field, and returns the value of the field.
async function uploadFile(place, record, fieldName, file) {
  const {tokens} = await serve(place, 'assets/upload',
    {tokens: [{recordName: record.recordName, recordType: record.recordType, fieldName}]});
  // Another name of this server would be another site.
  const {pathname, search} = new URL(tokens[0].url);
  const [answer, json] = await exchange(pathname + search, {method: 'POST', body: file});
  if (!answer.ok) throw refusal(json, answer.status);
  return json.singleFile;
}

// Sends one operation on a record, and returns the record of the answer.
async function modify(place, operationType, record) {
  const zoneID = zoneOf(place);
  const answer = await serve(place, 'records/modify',
    {zoneID, operations: [{operationType, record}]});
  const [result] = answer.records;
  if (result.serverErrorCode) throw refusal(result, 400);
  return result;
}

// The forms of all fields of a record; `recordType` returns its type.
class FieldForms {
  constructor(recordType) {
    Object.assign(this, {recordType, forms: [], element: make('div', {})});
  }

  // Adds the form of a field; returns whether there was none.
  add(field, focus) {
    if (this.forms.some(form => form.name === field.name)) return false;
    const form = fieldForm({...field, recordType: this.recordType});
    this.forms.push(form);
    this.element.append(form.element);
    const first = form.element.querySelector('input, textarea, button');
    if (focus && first) first.focus();
    return true;
  }

  get isChanged() { return this.forms.some(form => form.changed()); }

  // The changed fields, for a save.
  async changes(upload) {
    const changed = {};
    for (const one of this.forms.filter(one => one.changed() && !(one.isGone && one.isNew))) {
      const value = one.isGone ? null : await one.read(file => upload(one.name, file));
      changed[one.name] = {value, type: one.type, isEncrypted: one.isEncrypted || undefined};
    }
    return changed;
  }

  // Shows where the server differs from what was read before the edit: in place of what was not
  // edited, and beside what was.
  showServer(before, now) {
    const names = new Set([...Object.keys(before), ...Object.keys(now),
      ...this.forms.map(({name}) => name)]);
    for (const name of names) {
      const form = this.forms.find(one => one.name === name);
      const field = own(now, name);
      if (form) for (const old of form.element.querySelectorAll('.server')) old.remove();
      if (markOf(own(before, name)) === markOf(field) || !(form || field)) continue;
      if (!form) this.add({name, ...field});
      else if (!form.changed()) this.take(form, field);
      else {
        form.element.append(make('div', {class: 'server'}, 'on the server now: ',
          make('bdi', {}, field ? cut(plain(field.value, field.type), 300) : 'no value'), ' ',
          button('Take this value', '', {'aria-label': 'Take the server’s value of ' + name},
            () => this.take(form, field))));
      }
    }
  }

  // Replaces an edit by the server's value.
  take(form, field) {
    const index = this.forms.indexOf(form);
    if (!field) {
      this.forms.splice(index, 1);
      form.element.remove();
      return;
    }
    const fresh = fieldForm({name: form.name, ...field, recordType: this.recordType});
    const hadFocus = form.element.contains(document.activeElement);
    this.forms[index] = fresh;
    form.element.replaceWith(fresh.element);
    if (hadFocus) fresh.element.querySelector('input, textarea, button').focus();
  }
}

// All of a field that a comparison is about: the URL of a file is another one at each answer.
function markOf(field) {
  const {type, value, isEncrypted} = field || {};
  return JSON.stringify([type, value, Boolean(isEncrypted)],
    (name, one) => name === 'downloadURL' ? undefined : one);
}

// A form in place of the records. Its fields take no input while it is sent; one that was closed
// meanwhile closes nothing more.
function sentForm({label, parts, save, notes = [], send, done}) {
  const wrong = make('p', {role: 'alert'});
  const body = make('div', {}, ...parts);
  const submit = make('button', {class: 'strong'}, save);
  const form = make('form', {class: 'card', 'aria-label': label}, body, wrong,
    make('div', {class: 'row'}, submit, button('Cancel', '', {}, async () => {
      if (await mayClose()) done(null);
    }), ...notes));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const focused = document.activeElement;
    wrong.textContent = '';
    body.inert = submit.disabled = true;
    try {
      const result = await send();
      if (form.isConnected) done(result);
      else refresh();
    } catch (error) {
      (form.isConnected ? wrong : at('actionWrong')).textContent = error.message;
    }
    body.inert = submit.disabled = false;
    if (form.contains(focused) && document.activeElement === document.body) focused.focus();
  });
  return form;
}

function recordForm(place, record, types, done) {
  // Who saves is settled now: the page may act as another account later.
  const home = {...place, as: actor(place)};
  let known = record;
  const fields = new FieldForms(() => record ? record.recordType : type.value);
  for (const [name, field] of Object.entries(record ? record.fields : {})) {
    fields.add({name, ...field});
  }
  const type = make('input', {'aria-label': 'Record type', required: true, list: 'types',
    autocomplete: 'off', spellcheck: 'false'});
  const name = make('input', {'aria-label': 'Record name', autocomplete: 'off',
    spellcheck: 'false', placeholder: 'made by the server'});
  const head = record ? make('h3', {}, nameOf(record.recordName)) : make('div', {},
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Record type'), type),
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Record name'), name),
    make('datalist', {id: 'types'}, ...types.map(value => make('option', {value}))));
  const more = newFieldRow(field => fields.add({...field, isNew: true}, true));
  const send = async () => {
    if (more.typed()) {
      throw new Refused(400, 'The field “' + cut(more.typed(), 40) + '” was not added: choose “Add '
        + 'field”, or clear its name.');
    }
    const saved = known || {recordName: name.value || undefined, recordType: type.value};
    const changed = await fields.changes((field, file) => uploadFile(home, saved, field, file));
    const {recordName, recordType, recordChangeTag} = saved;
    return modify(home, record ? 'update' : 'create',
      {recordName, recordType, recordChangeTag, fields: changed});
  };
  // After a conflict the form shows what the server has now.
  const explain = async error => {
    const now = known && error.code === 'CONFLICT'
      && await currentRecord(home, known.recordName).catch(() => null);
    if (!now) return error;
    fields.showServer(record.fields, now.fields);
    known = now;
    return new Refused(409, 'Another device changed the record meanwhile (CONFLICT). Your edit is '
      + 'kept, and the server’s values are beside it. Save again to write your edit onto them.');
  };
  const form = sentForm({
    label: record ? 'Edit record' : 'New record', parts: [head, fields.element, more.element],
    save: record ? 'Save' : 'Create', done,
    notes: [make('span', {class: 'dim'}, 'as ', nameOf(home.as || 'nobody'), ' in ',
      nameOf(place.zone))],
    send: () => send().catch(async error => { throw await explain(error); }),
  });
  form.isEdited = () => fields.isChanged || Boolean(more.typed())
    || Boolean(!record && (type.value || name.value));
  return form;
}
