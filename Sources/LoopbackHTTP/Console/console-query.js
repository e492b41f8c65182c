// Queries in the syntax of predicates: conditions with AND between them.

const systemFields = {
  __proto__: null,
  recordID: 'recordName', recordName: 'recordName', share: 'share', parent: 'parent',
  creationDate: 'createdTimestamp', modificationDate: 'modifiedTimestamp',
  creatorUserRecordID: 'createdUserRecordName',
  lastModifiedUserRecordID: 'modifiedUserRecordName',
};
const systemTypes = {
  __proto__: null,
  recordName: 'REFERENCE', share: 'REFERENCE', parent: 'REFERENCE',
  createdTimestamp: 'TIMESTAMP', modifiedTimestamp: 'TIMESTAMP',
  createdUserRecordName: 'REFERENCE', modifiedUserRecordName: 'REFERENCE',
};
const comparators = {
  __proto__: null,
  '=': 'EQUALS', '==': 'EQUALS', '!=': 'NOT_EQUALS', '<>': 'NOT_EQUALS', '<': 'LESS_THAN',
  '<=': 'LESS_THAN_OR_EQUALS', '>': 'GREATER_THAN', '>=': 'GREATER_THAN_OR_EQUALS', IN: 'IN',
  BEGINSWITH: 'BEGINS_WITH', CONTAINS: 'LIST_CONTAINS',
};
const opposites = {
  __proto__: null,
  EQUALS: 'NOT_EQUALS', IN: 'NOT_IN', BEGINS_WITH: 'NOT_BEGINS_WITH',
  LIST_CONTAINS: 'NOT_LIST_CONTAINS',
};

class PredicateReader {
  constructor(text, types) {
    this.types = types;
    this.tokens = [];
    const pattern = new RegExp([
      '\\s*(?:("(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\')',
      '(-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)', '([\\p{L}_][\\p{L}\\p{N}_.]*(?::\\w+:)?)',
      '(<=|>=|==|!=|<>|[=<>{}(),]))'].join('|'), 'uy');
    while (text.slice(pattern.lastIndex).trim()) {
      const column = pattern.lastIndex + text.slice(pattern.lastIndex).search(/\S/) + 1;
      const found = pattern.exec(text);
      if (!found) throw new Refused(400, 'Unreadable at column ' + column + '.');
      const [, quoted, number, word, sign] = found;
      this.tokens.push({quoted, number, word, sign, column});
    }
  }

  get next() { return this.tokens[0] || {}; }

  take(text) {
    const {word, sign} = this.next;
    const is = sign === text || (word && word.toUpperCase() === text);
    if (is) this.tokens.shift();
    return is;
  }

  need(text) { if (!this.take(text)) this.fail('Expected ' + text); }

  fail(words) {
    const {column} = this.next;
    throw new Refused(400, words + (column ? ' at column ' + column : ' at the end') + '.');
  }

  filters() {
    const filters = [];
    if (!this.tokens.length || this.take('TRUEPREDICATE')) {
      if (this.tokens.length) this.fail('Expected the end');
      return filters;
    }
    do filters.push(this.condition()); while (this.take('AND'));
    if (this.tokens.length) this.fail('Expected AND');
    return filters;
  }

  condition() {
    if (this.take('NOT')) {
      const wrapped = this.take('(');
      const filter = this.condition();
      if (wrapped) this.need(')');
      if (!opposites[filter.comparator]) this.fail('There is no opposite of the condition before');
      return {...filter, comparator: opposites[filter.comparator]};
    }
    if (this.take('(')) {
      const filter = this.condition();
      this.need(')');
      return filter;
    }
    if (this.take('DISTANCETOLOCATION:FROMLOCATION:')) return this.near();
    const any = this.take('ANY');
    if (this.next.quoted !== undefined || this.next.number !== undefined) {
      const literal = this.value();
      this.need('IN');
      const key = this.key();
      return this.filter(key, 'LIST_CONTAINS', literal);
    }
    const key = this.key();
    const {word, sign} = this.next;
    const comparator = comparators[sign || (word || '').toUpperCase()];
    if (!comparator) this.fail('Expected a comparison');
    this.tokens.shift();
    if (key.toLowerCase() === 'self') {
      return {comparator: 'CONTAINS_ALL_TOKENS', fieldValue: {value: this.text(), type: 'STRING'}};
    }
    return this.filter(key, any && comparator === 'IN' ? 'LIST_CONTAINS_ANY' : comparator,
      this.value());
  }

  near() {
    this.need('(');
    const key = this.key();
    this.need(',');
    const literal = this.value();
    this.need(')');
    if (!this.take('<=')) this.need('<');
    const distance = this.number();
    return {...this.filter(key, 'NEAR', literal), distance: new Literal(distance)};
  }

  key() {
    const {word} = this.next;
    if (!word) this.fail('Expected a field');
    this.tokens.shift();
    return word;
  }

  text() {
    const {quoted} = this.next;
    if (quoted === undefined) this.fail('Expected a text in quotation marks');
    this.tokens.shift();
    return quoted.slice(1, -1).replace(/\\(.)/g, '$1');
  }

  number() {
    const {number} = this.next;
    if (number === undefined) this.fail('Expected a number');
    this.tokens.shift();
    return number;
  }

  // A literal: a text, a number, a list, or a call such as location(48.2, 16.4).
  value() {
    const {quoted, number} = this.next;
    if (quoted !== undefined) return {text: this.text()};
    if (number !== undefined) return {number: this.number()};
    if (this.take('{')) {
      const list = [];
      while (!this.take('}')) {
        list.push(this.value());
        if (this.next.sign !== '}') this.need(',');
      }
      return {list};
    }
    if (this.take('LOCATION')) {
      this.need('(');
      const latitude = this.number();
      this.need(',');
      const longitude = this.number();
      this.need(')');
      return {text: latitude + ', ' + longitude, type: 'LOCATION'};
    }
    for (const [word, type] of [['DATE', 'TIMESTAMP'], ['REFERENCE', 'REFERENCE'],
      ['BYTES', 'BYTES']]) {
      if (!this.take(word)) continue;
      this.need('(');
      const text = this.text();
      this.need(')');
      return {text, type};
    }
    return this.fail('Expected a value');
  }

  filter(key, comparator, literal) {
    const system = systemFields[key];
    const known = system ? systemTypes[system] : this.types.get(key);
    const inner = known && known.replace(/_LIST$/, '');
    return {
      ...system ? {systemFieldName: system} : {fieldName: key}, comparator,
      fieldValue: this.typed(literal, inner),
    };
  }

  // A literal gets the type that the field has in the records, if it can be written so.
  typed({text, number, list, type}, known) {
    if (list) {
      const members = list.map(one => this.typed(one, known));
      const inner = members.length ? members[0].type : known || 'STRING';
      return {value: members.map(one => one.value), type: inner + '_LIST'};
    }
    if (number !== undefined) {
      const whole = /^-?\d+$/.test(number) && known !== 'DOUBLE';
      return {value: new Literal(number), type: whole ? 'INT64' : 'DOUBLE'};
    }
    const wanted = type || (['TIMESTAMP', 'REFERENCE', 'BYTES'].includes(known) ? known : 'STRING');
    return {value: typedValue(text, wanted), type: wanted};
  }
}
