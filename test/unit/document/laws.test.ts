import fc from 'fast-check'
import { dump } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { type ParseResult, parseDag } from '../../../shared/document/parse.ts'
import { atMost } from '../../how-much.ts'
import { FULL, MUTANT } from './mutants.ts'

function isAnswer(result: ParseResult): void {
  if (result.ok) {
    expect(JSON.parse(JSON.stringify(result.dag))).toEqual(result.dag)
    expect(result.order.length).toBe(result.dag.blocks.length)
    expect(result.warnings.every(({ code, path, message }) => code !== '' && path !== '' && /\.$/.test(message))).toBe(
      true,
    )
    return
  }
  expect(result.errors.length).toBeGreaterThan(0)
  expect(result.errors.length).toBeLessThanOrEqual(100)
  const places = result.errors.map(({ line = 0, column = 0 }) => line * 1e6 + column)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
}

/** Every error has a place, and the place is one of the text. */
function standsInside(result: ParseResult, text: string): void {
  const lines = text.split('\n')
  for (const { line = 0, column = 0, path, code } of result.ok ? [] : result.errors) {
    const length = lines[line - 1]?.length ?? -1
    expect([code, path, column >= 1 && column <= length + 1]).toEqual([code, path, true])
  }
}

describe('parseDag() never throws', () => {
  test('on any text', () => {
    const piece = fc.constantFrom(
      'blocks:',
      '\n',
      '  ',
      '- ',
      'id: ',
      'a',
      ': ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
      '|',
      '>',
      '&x ',
      '*x',
      '!t ',
      '---',
      '?',
      '#',
      '\t',
      '\r',
      '\0',
      '\uFEFF',
      '%YAML 1.2',
      '...',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 40 }).map((p) => p.join('')),
        ),
        (text) => {
          const result = parseDag(text)
          isAnswer(result)
          for (const error of result.ok ? [] : result.errors) expect(error.line).toBeGreaterThan(0)
        },
      ),
      { numRuns: atMost(3_000, 800) },
    )
  })

  test('on mutated documents, which have the same errors as text and as an object', () => {
    fc.assert(
      fc.property(MUTANT, (document) => {
        fc.pre(typeof document === 'object' && document !== null)
        const dumped = dump(document, { noRefs: true })
        const text = parseDag(dumped)
        const object = parseDag(document as object)
        isAnswer(text)
        isAnswer(object)
        standsInside(text, dumped)
        // Sorted: a mapping and its first key stand at one place of a text, and at two of an object.
        const said = (result: ParseResult) =>
          result.ok ? result.dag_hash : result.errors.map((e) => `${e.path} ${e.message}`).toSorted()
        expect(said(text)).toEqual(said(object))
      }),
      { numRuns: atMost(800, 80) },
    )
  })

  test('on any JSON value or JavaScript object', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.object({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
          fc.array(fc.anything()),
        ),
        (given) => isAnswer(parseDag(given)),
      ),
    )
  })

  test.each<[string, () => object]>([
    [
      'a cycle',
      () => {
        const loop: { blocks?: unknown } = {}
        loop.blocks = [loop]
        return loop
      },
    ],
    [
      'a throwing getter',
      () => ({
        get blocks() {
          throw new Error('no')
        },
      }),
    ],
    [
      'a hostile proxy',
      () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no')
            },
          },
        ),
    ],
    ['a list of a billion holes', () => ({ blocks: new Array(1e9) })],
    [
      'shared parts that multiply',
      () => Array.from({ length: 40 }).reduce<object>((part) => ({ a: part, b: part }), {}),
    ],
    ['a prototype key', () => JSON.parse('{"__proto__": {"x": 1}, "blocks": [{"id": "a", "constructor": 1}]}')],
    ['functions, symbols, bigints and dates', () => ({ blocks: [() => 1, Symbol('x'), 1n, new Date(0), Number.NaN] })],
    [
      'revoked proxies',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return { blocks: proxy }
      },
    ],
  ])('on %s', (_, make) => {
    const result = parseDag(make())
    isAnswer(result)
    expect(result.ok).toBe(false)
  })
})

/** Random graphs without cycles: block i reads some of the blocks before it. */
const ACYCLIC = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 25 })
  .map((reads) =>
    reads.map((picks, i) => [...new Set(i === 0 ? [] : picks.map((pick) => pick % i))].sort((a, b) => a - b)),
  )

function document(reads: readonly (readonly number[])[], as: 'from' | 'edges' | 'mixed') {
  const byEdge = (i: number) => as === 'edges' || (as === 'mixed' && i % 2 === 0)
  const blocks = reads.map((sources, i) => ({
    id: `b${i}`,
    agent: { provider: 'local', model: 'm' },
    inputs: Object.fromEntries(sources.map((s) => [`p${s}`, byEdge(i) ? { type: 'string' } : { from: `b${s}.o` }])),
    outputs: { o: 'string' },
  }))
  const edges = reads.flatMap((sources, i) =>
    byEdge(i) ? sources.map((s) => ({ from: `b${s}`, output: 'o', to: `b${i}`, input: `p${s}` })) : [],
  )
  return { blocks, edges }
}

describe('parseDag() laws', () => {
  test('from and edges are one graph, and the hash does not see the order of keys', () => {
    fc.assert(
      fc.property(ACYCLIC, (reads) => {
        const hashes = (['from', 'edges', 'mixed'] as const).map((as) => {
          const result = parseDag(document(reads, as))
          return result.ok ? result.dag_hash : result.errors
        })
        const turned = JSON.parse(JSON.stringify(document(reads, 'from')), (_, value) =>
          typeof value === 'object' && !Array.isArray(value)
            ? Object.fromEntries(Object.entries(value).reverse())
            : value,
        )
        const last = parseDag(turned)
        expect(new Set([...hashes, last.ok && last.dag_hash]).size).toBe(1)
      }),
      { numRuns: atMost(100, 30) },
    )
  })

  test('the hash of a document with every key does not see their order, and sees each of their values', () => {
    const hashOf = (given: object) => {
      const result = parseDag(given)
      return result.ok ? result.dag_hash : result.errors
    }
    const turn = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(turn)
      const pairs = Object.entries(value).reverse()
      return Object.fromEntries(pairs.map(([key, member]) => [key, turn(member)]))
    }
    expect(hashOf(FULL)).toMatch(/^[0-9a-f]{64}$/)
    expect(hashOf(turn(FULL) as object)).toEqual(hashOf(FULL))
    const changes = [
      ['inputs.goal !=', 'inputs.goal =='],
      ['"max_age_sec":60', '"max_age_sec":61'],
      ['"tolerate":1', '"tolerate":2'],
      ['table.done', 'table.failed'],
      ['"max_bounces":2', '"max_bounces":3'],
      ['value.length +', 'value.length *'],
      ['"name":"other"', '"name":"another"'],
      ['"role":"worker"', '"role":"manager"'],
    ] as const
    const text = JSON.stringify(FULL)
    expect(changes.filter(([part]) => !text.includes(part))).toEqual([])
    const hashes = changes.map(([part, other]) => hashOf(JSON.parse(text.replace(part, other))))
    expect(new Set([...hashes, hashOf(FULL)]).size).toBe(changes.length + 1)
  })

  test('the order is the smallest one in which every block comes after what it reads', () => {
    fc.assert(
      fc.property(ACYCLIC, fc.infiniteStream(fc.nat()), (reads, seeds) => {
        // Names are shuffled, so that the document order is not already an order of the graph.
        const place = reads.map((_, i) => i)
        for (let i = place.length - 1; i > 0; i -= 1) {
          const j = Number(seeds.next().value) % (i + 1)
          ;[place[i], place[j]] = [place[j] ?? 0, place[i] ?? 0]
        }
        const shuffled = reads.map((_, i) => (reads[place.indexOf(i)] ?? []).map((s) => place[s] ?? 0))
        const result = parseDag(document(shuffled, 'from'))
        const order = result.ok ? result.order.map((id) => Number(id.slice(1))) : []
        const done = new Set<number>()
        for (const next of order) {
          const ready = shuffled.flatMap((sources, i) => (!done.has(i) && sources.every((s) => done.has(s)) ? [i] : []))
          expect(next).toBe(Math.min(...ready))
          done.add(next)
        }
        expect(order.length).toBe(reads.length)
      }),
      { numRuns: atMost(100, 30) },
    )
  })

  test('a wire back makes a cycle, and its message walks real wires from member to member', () => {
    fc.assert(
      fc.property(ACYCLIC, fc.nat(), fc.nat(), (reads, a, b) => {
        const [low = 0, high = 0] = [a % reads.length, b % reads.length].sort((x, y) => x - y)
        const wires = reads.map((sources, i) => (i === low ? [...new Set([...sources, high])] : sources))
        const reaches = (from: number, to: number): boolean =>
          from === to || wires.some((sources, i) => i > from && sources.includes(from) && reaches(i, to))
        const result = parseDag(document(wires, 'from'))
        expect(result.ok).toBe(!reaches(low, high))
        if (result.ok) return
        expect(result.errors.map(({ code }) => code)).toEqual(['cycle'])
        const names = (/cycle: ([^.]+)/.exec(result.errors[0]?.message ?? '')?.[1] ?? '').split(' -> ')
        const members = names.map((name) => Number(name.slice(1)))
        expect(members[0]).toBe(members.at(-1))
        expect(new Set(members).size).toBe(members.length - 1)
        expect(members[0]).toBe(Math.min(...members))
        for (const [i, member] of members.slice(1).entries()) expect(wires[member]).toContain(members[i])
      }),
      { numRuns: atMost(100, 30) },
    )
  })
})
