import type { Json } from '../../shared/text/json.ts'

/** A check somebody may write, what it looks at, and what comes of it: `refused` when the document is read. */
export interface HostileCheck {
  readonly name: string
  readonly check: Json
  /** Of the port `a`. */
  readonly port?: Json
  readonly status: 'refused' | 'failed' | 'error' | 'passed'
  /** What its reason must say. */
  readonly says: RegExp
  /** What the name of a URL resolves to; without it every name is unknown, and no request leaves the machine. */
  readonly addresses?: readonly string[]
}

const matching = (pattern: string, port: Json = 'a'): Pick<HostileCheck, 'name' | 'check' | 'port'> => ({
  name: `pattern ${pattern.length > 50 ? `of ${pattern.length} characters` : pattern}`,
  check: { type: 'matches', port: 'a', pattern },
  port,
})
const LETTERS = `${'a'.repeat(50_000)}!`

const PATTERNS: readonly HostileCheck[] = [
  { ...matching('^(a+)+$', LETTERS), status: 'failed', says: /must match/ },
  { ...matching('^(a|a)*$', LETTERS), status: 'failed', says: /must match/ },
  { ...matching('^(a|aa)+$', LETTERS), status: 'failed', says: /must match/ },
  { ...matching('^([a-z]+)*[0-9]$', LETTERS), status: 'failed', says: /must match/ },
  { ...matching('(x+x+)+y', 'x'.repeat(50_000)), status: 'failed', says: /must match/ },
  { ...matching('(.*)*(.*)*(.*)*!!', LETTERS), status: 'failed', says: /must match/ },
  { ...matching('^(?!.*b)(?=(a+)+)a*$', LETTERS), status: 'failed', says: /must match/ },
  { ...matching('a{1000}{1000}'), status: 'refused', says: /not supported|steps/ },
  { ...matching('(?:a{1,900}){1,900}'), status: 'refused', says: /not supported|steps/ },
  { ...matching('(a)\\1'), status: 'refused', says: /not supported/ },
  { ...matching('(?<=a)b'), status: 'refused', says: /not supported/ },
  { ...matching('a(?=b)'), status: 'refused', says: /not supported/ },
  { ...matching('('), status: 'refused', says: /not supported/ },
  { ...matching('a'.repeat(1_001)), status: 'refused', says: /1001 characters/ },
]

const deep = (levels: number): Json => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } })
const wide = (keys: number): Json => ({ required: Array.from({ length: keys }, (_, i) => `k${i}`) })
const doubling = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [
    `d${i}`,
    i === 0 ? {} : { anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] },
  ]),
)
const under = (name: string, schema: Json, port: Json = {}): Pick<HostileCheck, 'name' | 'check' | 'port'> => ({
  name: `schema: ${name}`,
  check: { type: 'json_schema', port: 'a', schema },
  port,
})

const SCHEMAS: readonly HostileCheck[] = [
  { ...under('a remote reference', { $ref: 'http://169.254.169.254/' }), status: 'refused', says: /not local/ },
  { ...under('a file', { $ref: 'file:///etc/passwd' }), status: 'refused', says: /not local/ },
  { ...under('itself', { $ref: '#' }), status: 'refused', says: /refers to itself/ },
  { ...under('20 doublings', { $defs: doubling, $ref: '#/$defs/d19' }), status: 'refused', says: /expand to/ },
  { ...under('40 levels', deep(20)), status: 'refused', says: /deeper than 32/ },
  { ...under('10,000 levels', deep(5_000)), status: 'refused', says: /deeper than 32/ },
  { ...under('3,000 nodes', wide(3_000)), status: 'refused', says: /2000 nodes/ },
  { ...under('70 KB', { const: 'x'.repeat(70_000) }), status: 'refused', says: /65536/ },
  { ...under('an unknown type', { type: 'anything' }), status: 'refused', says: /schema/ },
  { ...under('a hostile pattern', { pattern: '^(a+)+$' }, LETTERS), status: 'failed', says: /valid under/ },
  {
    ...under('a quadratic keyword', { uniqueItems: true }, list(200_000)),
    status: 'error',
    says: /cannot check the schema/,
  },
  {
    ...under('a key of the prototype', { type: 'object', required: ['__proto__', 'toString'] }),
    status: 'failed',
    says: /must have required property/,
  },
]

/** Different objects: only comparing each with each tells. */
function list(items: number): Json {
  return Array.from({ length: items }, (_, i) => ({ i }))
}

const empty: Json = { type: 'not_empty', port: 'a' }
const nest = (levels: number): Json => (levels === 0 ? empty : { any_of: [nest(levels - 1)] })

const COMPOSITIONS: readonly HostileCheck[] = [
  { name: 'six compositions deep', check: nest(6), status: 'refused', says: /levels deep/ },
  { name: '1,000 compositions deep', check: nest(1_000), status: 'refused', says: /levels deep/ },
  {
    name: '51 parts',
    check: { all_of: Array.from({ length: 51 }, () => empty) },
    status: 'refused',
    says: /50 checks/,
  },
  { name: 'any of none', check: { any_of: [] }, status: 'refused', says: /never pass/ },
  { name: 'at least 0', check: { at_least: 0, of: [empty] }, status: 'refused', says: /from 1 to 1/ },
  { name: 'at least NaN', check: { at_least: Number.NaN, of: [empty] }, status: 'refused', says: /from 1 to 1/ },
  { name: 'not, of nothing', check: { ...empty, not: true }, status: 'failed', says: /missing port/ },
  {
    name: 'not, of an unread type',
    check: { type: 'contains', port: 'a', values: ['x'], not: true },
    port: 7,
    status: 'failed',
    says: /must be text/,
  },
  { name: 'not true as text', check: { ...empty, not: 'true' }, status: 'refused', says: /true or false/ },
  { name: 'two kinds in one', check: { any_of: [empty], all_of: [empty] }, status: 'refused', says: /stands beside/ },
]

const PARAMETERS: readonly HostileCheck[] = [
  { name: 'type constructor', check: { type: 'constructor' }, status: 'refused', says: /Unknown gate type/ },
  { name: 'type __proto__', check: { type: '__proto__' }, status: 'refused', says: /Unknown gate type/ },
  {
    name: 'an own key __proto__',
    check: JSON.parse('{"type":"not_empty","port":"a","__proto__":{"port":"b"}}') as Json,
    status: 'refused',
    says: /Unknown parameter|Unrecognized/,
  },
  { name: 'no values', check: { type: 'contains', port: 'a', values: [] }, status: 'refused', says: /values/ },
  {
    name: 'empty text as value',
    check: { type: 'contains', port: 'a', values: [''] },
    status: 'refused',
    says: /values/,
  },
  { name: 'min NaN', check: { type: 'min_length', port: 'a', min: Number.NaN }, status: 'refused', says: /min/ },
  {
    name: 'max Infinity',
    check: { type: 'max_value', port: 'a', max: Number.POSITIVE_INFINITY },
    status: 'refused',
    says: /max/,
  },
  {
    name: 'a port of the prototype',
    check: { type: 'not_empty', port: '__proto__' },
    status: 'failed',
    says: /missing port/,
  },
  {
    name: 'a port every object has',
    check: { type: 'not_empty', port: 'toString' },
    status: 'failed',
    says: /missing port/,
  },
  {
    name: 'a call in expr',
    check: { type: 'expr', expression: 'inputs.constructor.constructor("return 1")()' },
    status: 'refused',
    says: /expression/,
  },
  {
    name: 'a global in expr',
    check: { type: 'expr', expression: 'process.env' },
    status: 'refused',
    says: /expression/,
  },
  {
    name: '1,000 brackets in expr',
    check: { type: 'expr', expression: `${'('.repeat(1_000)}true${')'.repeat(1_000)}` },
    status: 'refused',
    says: /expression/,
  },
  {
    name: 'a prototype in expr',
    check: { type: 'expr', expression: 'outputs.a.__proto__ != null' },
    port: {},
    status: 'refused',
    says: /expression/,
  },
  { name: 'shell with NUL', check: { type: 'shell', command: 'true\0' }, status: 'refused', says: /command/ },
  { name: 'shell where none runs', check: { type: 'shell', command: 'true' }, status: 'error', says: /cannot run/ },
]

export const HOSTILE_CHECKS: readonly HostileCheck[] = [...PATTERNS, ...SCHEMAS, ...COMPOSITIONS, ...PARAMETERS]
