import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Terms } from '../../../../functions/aws/run-store/table.ts'
import { chance, type Random, upTo } from '../../../integration/random-runs.ts'
import type { Quirks } from './quirks.ts'

/** `of` has at least one. */
export function pick<T>(random: Random, of: readonly T[]): T {
  return of[upTo(random, of.length - 1)] as T
}

/** A value of a type; now and then of another. */
function randomValue(random: Random, type: string): AttributeValue {
  const make = VALUES[chance(random, 0.04) ? pick(random, Object.keys(VALUES)) : type] ?? text
  return make(random)
}

const TEXTS = ['a', 'b', 'ab', 'abc', 'ü', 'z', '2026-01-01', '~', '𝄞', 'running']
const text = (random: Random): AttributeValue => ({ S: pick(random, TEXTS) })
const numeral = (random: Random) => String(upTo(random, 40) - 10 + (chance(random, 0.2) ? 0.5 : 0))
const several = <T>(random: Random, make: (random: Random) => T) =>
  Array.from({ length: upTo(random, 3) }, () => make(random))
/** A set has a member, each once. */
const members = (random: Random, make: (random: Random) => string) => [
  ...new Set([make(random), ...several(random, make)]),
]

const VALUES: Readonly<Record<string, (random: Random) => AttributeValue>> = {
  S: text,
  N: (random) => ({ N: numeral(random) }),
  B: (random) => ({ B: Uint8Array.from(several(random, (r) => upTo(r, 255))) }),
  BOOL: (random) => ({ BOOL: chance(random, 0.5) }),
  NULL: () => ({ NULL: true }),
  SS: (random) => ({ SS: members(random, (r) => pick(r, TEXTS)) }),
  NS: (random) => ({ NS: members(random, numeral) }),
  L: (random) => ({ L: several(random, text) }),
  M: (random) => ({
    M: Object.fromEntries(several(random, (r) => [pick(r, ['x', 'y', '0', 'a b']), { N: numeral(r) }])),
  }),
}

interface Place {
  readonly path: readonly string[]
  readonly type: string
}

/** Where values lie; whoever writes there mostly keeps to the type. */
const PLACES: readonly Place[] = [
  { path: ['num'], type: 'N' },
  { path: ['txt'], type: 'S' },
  { path: ['bin'], type: 'B' },
  { path: ['flg'], type: 'BOOL' },
  { path: ['tags'], type: 'SS' },
  { path: ['nums'], type: 'NS' },
  { path: ['lst'], type: 'L' },
  { path: ['mp', 'x'], type: 'N' },
  { path: ['mp', 'y'], type: 'S' },
  { path: ['mp', '0'], type: 'N' },
  { path: ['mp', 'deep'], type: 'M' },
  { path: ['mp', 'deep', 'x'], type: 'N' },
  { path: ['mp'], type: 'M' },
  { path: ['nowhere', 'x'], type: 'S' },
]

/** Keys of the indexes: only texts may be there. */
const INDEXED: readonly Place[] = ['by_tenant', 'created', 'due', 'check_at', 'inbox', 'inbox_at', 'state'].map(
  (name) => ({
    path: [name],
    type: 'S',
  }),
)

export function randomItem(random: Random): Record<string, AttributeValue> {
  const top = PLACES.filter(({ path }) => path.length === 1 && chance(random, 0.5))
  const indexed = INDEXED.filter(() => chance(random, 0.5))
  const map = { mp: { M: { deep: { M: {} }, x: { N: numeral(random) } } } }
  return {
    ...(chance(random, 0.6) ? map : {}),
    ...Object.fromEntries([...top, ...indexed].map(({ path: [name = ''], type }) => [name, randomValue(random, type)])),
  }
}

export function randomCondition(random: Random, terms: Terms, depth = 2): string {
  if (depth > 0 && chance(random, 0.45)) {
    const inner = () => randomCondition(random, terms, depth - 1)
    const make = pick(random, [
      () => `${inner()} AND ${inner()}`,
      () => `${inner()} OR ${inner()}`,
      () => `(${inner()} OR ${inner()}) AND ${inner()}`,
      () => `NOT ${pick(random, SIMPLE)(random, terms)}`,
      () => `NOT (${inner()} AND ${inner()})`,
      () => `(${inner()})`,
    ])
    return make()
  }
  return pick(random, SIMPLE)(random, terms)
}

const SIMPLE: readonly ((random: Random, terms: Terms) => string)[] = [
  (random, { path }) => `attribute_exists(${path(...pick(random, PLACES).path)})`,
  (random, { path }) => `attribute_not_exists(${path(...pick(random, [...PLACES, ...INDEXED]).path)})`,
  (random, terms) => compared(random, terms, ['=', '<>'], 'S N B BOOL SS NS'.split(' ')),
  (random, terms) => compared(random, terms, ['=', '<>', '<', '<=', '>', '>='], ['S', 'N']),
  (random, { path, value }) => {
    const [low, high] = [upTo(random, 20) - 10, 10 + upTo(random, 20)]
    return `${path(...pick(random, PLACES).path)} BETWEEN ${value({ N: String(low) })} AND ${value({ N: String(high) })}`
  },
  (random, { path, value }) => `begins_with(${path(...pick(random, PLACES).path)}, ${value(text(random))})`,
  (random, { path, value }) => {
    const within = PLACES.filter(({ type }) => /^(S|SS|NS)$/.test(type))
    const { path: names, type } = pick(random, within)
    const part = type === 'NS' ? { N: numeral(random) } : text(random)
    return `contains(${path(...names)}, ${value(part)})`
  },
  (random, { path, value }) => {
    const sized = path(
      ...pick(
        random,
        PLACES.filter(({ type }) => /^(SS|NS|L|M)$/.test(type)),
      ).path,
    )
    return `size(${sized}) ${pick(random, ['<', '<=', '=', '<>', '>', '>='])} ${value({ N: String(upTo(random, 4)) })}`
  },
]

function compared(random: Random, { path, value }: Terms, signs: readonly string[], types: readonly string[]): string {
  const place = pick(
    random,
    [...PLACES, ...INDEXED].filter(({ type }) => types.includes(type)),
  )
  const made = (VALUES[place.type] ?? text)(random)
  return `${path(...place.path)} ${pick(random, signs)} ${value(made)}`
}

/** One to four clauses over paths that do not overlap (now and then they do). */
export function randomUpdate(random: Random, terms: Terms, quirks: Quirks): string {
  const places = chance(random, 0.03) ? [...PLACES] : disjoint(random)
  const clauses: Record<string, string[]> = { SET: [], REMOVE: [], ADD: [], DELETE: [] }
  for (const place of places.slice(0, 1 + upTo(random, 4))) {
    const word = pick(random, ['SET', 'SET', 'SET', 'REMOVE', 'ADD', 'DELETE'])
    const able = /^(ADD|DELETE)$/.test(word)
      ? /^(SS|NS|N)$/.test(place.type) && !(word === 'DELETE' && place.type === 'N')
      : true
    const odd =
      word === 'REMOVE' && !quirks.refuses_remove_into_nothing && (place.path.length > 1 || place.type === 'L')
    const clause = able && !odd ? word : 'SET'
    clauses[clause]?.push((CLAUSES[clause] ?? setTo)(random, terms, place))
  }
  const used = Object.entries(clauses).filter(([, parts]) => parts.length > 0)
  return used.map(([word, parts]) => `${word} ${parts.join(', ')}`).join(' ')
}

function disjoint(random: Random): readonly Place[] {
  const shuffled = [...PLACES, ...INDEXED].map((place) => [random(), place] as const).toSorted(([a], [b]) => a - b)
  const taken: Place[] = []
  for (const [, place] of shuffled) {
    const meets = taken.some(({ path }) => path.every((step, i) => i >= place.path.length || step === place.path[i]))
    if (!meets) taken.push(place)
  }
  return taken
}

const CLAUSES: Readonly<Record<string, (random: Random, terms: Terms, place: Place) => string>> = {
  SET: setTo,
  REMOVE: (random, { path }, { path: names, type }) =>
    type === 'L' && chance(random, 0.5) ? `${path(...names)}[${upTo(random, 2)}]` : path(...names),
  ADD: (random, { path, value }, { path: names, type }) => `${path(...names)} ${value(randomOf(random, type))}`,
  DELETE: (random, { path, value }, { path: names, type }) => `${path(...names)} ${value(randomOf(random, type))}`,
}

/** ADD and DELETE refuse other types before anything else. */
function randomOf(random: Random, type: string): AttributeValue {
  return (VALUES[type] ?? text)(random)
}

function setTo(random: Random, { path, value }: Terms, { path: names, type }: Place): string {
  const to = path(...names)
  const plain = () =>
    `${to} = ${value(INDEXED.some(({ path: [name] }) => name === names[0]) ? text(random) : randomValue(random, type))}`
  if (chance(random, 0.5)) return plain()
  const make = {
    N: () => `${to} = ${to} ${pick(random, ['+', '-'])} ${value({ N: numeral(random) })}`,
    L: () =>
      pick(random, [
        () => `${to} = list_append(${to}, ${value(randomOf(random, 'L'))})`,
        () => `${to} = list_append(${value(randomOf(random, 'L'))}, ${to})`,
        () => `${to} = list_append(if_not_exists(${to}, ${value({ L: [] })}), ${value(randomOf(random, 'L'))})`,
        () => `${to}[${upTo(random, 3)}] = ${value(text(random))}`,
      ])(),
    S: () => `${to} = if_not_exists(${to}, ${value(text(random))})`,
  }[type]
  return (make ?? plain)()
}
