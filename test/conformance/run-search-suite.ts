import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { RunFacts } from '../../shared/runs/facts-index.ts'
import type { Labels } from '../../shared/runs/labels.ts'
import { wholeFacts } from '../../shared/runs/run-facts.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { wordsIn } from '../../shared/runs/words.ts'
import { matches } from '../../shared/search-runs/matches.ts'
import { requireQuery } from '../../shared/search-runs/query.ts'
import { findRuns } from '../../shared/search-runs/search.ts'
import { atMost } from '../how-much.ts'
import { at, ending, keyOf, newRun, type Store, step, time } from './run-store-fixture.ts'

const NOW = Date.parse(time(7_200_000))

/** Labels, notes, and what runs are found by: the same runs in the same order on every store. */
export function searchTests(store: Store, heavy: string[]): void {
  describe('labels', () => labelTests(store))
  describe('search', () => {
    test.each<[string, string, readonly number[]]>([
      ['every run, newest first', '', [6, 5, 4, 3, 2, 1]],
      ['a label', 'label:team=growth', [5, 1]],
      ['any value of a label', 'label:team', [5, 2, 1]],
      ['one of two labels', 'label:team=growth,team=core', [5, 2, 1]],
      ['none of a label', '-label:team', [6, 4, 3]],
      ['a document', 'dag:import', [4, 2]],
      ['documents that begin so', 'dag:imp*,nothing', [4, 2]],
      ['a state', 'state:failed', [4, 3]],
      ['states with and without a list of their own', 'state:failed,running', [6, 5, 4, 3, 2]],
      ['those that are not in a state', '-state:running', [4, 3, 1]],
      ['a code', 'code:GATE_FAILED', [3]],
      ['a starter', 'starter:user:ben', [6]],
      ['the beginning of an id', `id:${'0'.repeat(25)}`, [6, 5, 4, 3, 2, 1]],
      ['an id', keyOf(newRun(3).meta).run_id, [3]],
      ['words of inputs', 'invoice 4711', [2]],
      ['words of inputs in whatever form', '"INVOICE, 4711!"', [2]],
      ['words of why it ended', 'verdict', [4]],
      ['a word and not another', 'invoice -4711', [5]],
      ['a word, a label and a state', 'invoice label:team=growth state:running', [5]],
      ['a day', 'time:2026-01-01', [6, 5, 4, 3, 2, 1]],
      ['a range of times', `time:${time(2_000)}..${time(4_000)}`, [4, 3, 2]],
      ['after a time', `time:>${time(4_000)}`, [6, 5]],
      ['before a time', `time:<${time(2_000)}`, [1]],
      ['the last two hours', 'time:2h', [6, 5, 4, 3, 2, 1]],
      ['a duration', 'duration:<1m', [4, 3, 1]],
      ['a cost', 'cost:>=0.5', [4]],
      ['tokens', 'tokens:1..2000', [4]],
      ['an end', `ended:>=${time(9_000)}`, [4]],
      ['a role', 'role:child', [6]],
      ['nothing', 'label:team=nobody', []],
    ])('finds %s', async (_, q, wanted) => {
      await sixRuns(store)
      expect(await numbers(store, q)).toEqual(wanted)
    })

    test('goes on behind a page, to the end', async () => {
      await sixRuns(store)
      const seen: number[] = []
      let before: string | undefined
      do {
        const part = await findRuns(store(), 'main', requireQuery('time:2h', NOW), { limit: 2, before, now: NOW })
        seen.push(...part.found.map(({ facts }) => numberOf(facts)))
        before = part.next
      } while (before !== undefined)
      expect(seen).toEqual([6, 5, 4, 3, 2, 1])
    })

    test('runs of another tenant are not found', async () => {
      await sixRuns(store)
      await store().create(newRun(9, { tenant: 'other', labels: { team: 'growth' } }))
      expect(await numbers(store, 'label:team=growth')).toEqual([5, 1])
    })

    test('words of outputs are found once they were listed', async () => {
      await sixRuns(store)
      await store().addWords(keyOf(newRun(1).meta), wordsIn('The Grünkohl is served'))
      await store().addWords(keyOf(newRun(1).meta), wordsIn('served'))
      expect(await numbers(store, 'grünkohl served')).toEqual([1])
    })

    test('finds what a plain filter over META and HEAD finds, in its order', { tags: heavy }, async () => {
      const many = await manyRuns(store)
      await fc.assert(
        fc.asyncProperty(anyQuery, fc.integer({ min: 1, max: 7 }), async (q, limit) => {
          const query = requireQuery(q, NOW)
          const wanted = many
            .filter(({ facts, words }) => {
              const hasWords = query.words.every((word) => words.has(word))
              return hasWords && !query.without.some((word) => words.has(word)) && matches(query, facts, NOW)
            })
            .map(({ facts }) => facts.run_id)
          const found: string[] = []
          let before: string | undefined
          do {
            const part = await findRuns(store(), 'main', query, { limit, before, now: NOW })
            expect(part.found.length).toBeLessThanOrEqual(limit)
            found.push(...part.found.map(({ facts }) => facts.run_id))
            before = part.next
          } while (before !== undefined)
          expect(found).toEqual(wanted)
        }),
        { numRuns: atMost(300) },
      )
    })
  })
}

function labelTests(store: Store): void {
  const run = keyOf(newRun(1).meta)

  test('are in HEAD once they were changed, each version once, also after the end', async () => {
    await store().create(newRun(1, { labels: { team: 'growth' } }))
    expect((await store().head(run))?.labels).toBeUndefined()
    expect(await store().putLabels(run, { version: 1, values: { team: 'core' } })).toBe(true)
    expect(await store().putLabels(run, { version: 1, values: { team: 'late' } })).toBe(false)
    await store().append(ending(run))
    expect(await store().putLabels(run, { version: 2, values: { stage: 'ünï' } })).toBe(true)
    expect((await store().head(run))?.labels).toEqual({ version: 2, values: { stage: 'ünï' } })
    const [listed] = (await store().list('main', { limit: 1 })).runs
    expect(listed?.head.labels?.values).toEqual({ stage: 'ünï' })
    expect(await numbers(store, 'label:team')).toEqual([])
    expect(await numbers(store, 'label:stage=ünï state:cancelled')).toEqual([1])
  })

  test('of a run that is not there cannot be changed', async () => {
    expect(await store().putLabels(run, { version: 1, values: {} })).toBe(false)
    expect(await store().head(run)).toBeUndefined()
  })

  test('two who change them at once: one is taken, and the search says the same as HEAD', async () => {
    await store().create(newRun(1))
    const taken = await Promise.all(
      ['a', 'b', 'c'].map((team) => store().putLabels(run, { version: 1, values: { team } })),
    )
    expect(taken.filter(Boolean)).toEqual([true])
    await store().append(ending(run))
    const team = (await store().head(run))?.labels?.values.team
    expect(await numbers(store, `label:team=${team}`)).toEqual([1])
    expect(await numbers(store, 'label:team')).toEqual([1])
  })

  test('notes are kept once an id, oldest first', async () => {
    await store().create(newRun(1))
    const note = (n: number) => ({ id: `note_${n}`, at: time(n), by: 'user:ana', text: `Note ${n}` })
    await store().putNote(run, note(2))
    await store().putNote(run, note(1))
    await store().putNote(run, { ...note(2) })
    expect((await store().notes(run)).map(({ id }) => id)).toEqual(['note_1', 'note_2'])
    expect(await store().notes(keyOf(newRun(2).meta))).toEqual([])
  })
}

async function sixRuns(store: Store): Promise<void> {
  const parent = { run_id: keyOf(newRun(5).meta).run_id, block_id: 'b', epoch: 0, attempt: 1 }
  await store().create(newRun(1, { labels: { team: 'growth' } }))
  await store().create({ ...newRun(2, { labels: { team: 'core' }, dag_name: 'import' }), words: ['invoice', '4711'] })
  await store().create(newRun(3))
  await store().create(newRun(4, { dag_name: 'import' }))
  await store().create({ ...newRun(5, { labels: { team: 'growth', stage: 'prod' } }), words: ['invoice'] })
  await store().create(newRun(6, { starter: 'user:ben', parent }))
  await store().append(ending(keyOf(newRun(1).meta), { at: time(2_000) }))
  await end(store, keyOf(newRun(3).meta), { code: 'GATE_FAILED', reason: 'a gate said no', ended_at: time(5_000) })
  const used = { tokens: 2_000, usd_micros: 500_000 }
  const run = keyOf(newRun(4).meta)
  await store().append(step(run, '0', 10, { settle: { reserved: NOTHING, spent: used } }))
  await end(store, run, { code: 'BLOCK_FAILED', reason: 'The verdict was: not good', ended_at: time(9_000) })
}

const NOTHING = { tokens: 0, usd_micros: 0 }

async function end(
  store: Store,
  run: RunKey,
  { code, reason, ended_at }: { readonly code: string; readonly reason: string; readonly ended_at: string },
): Promise<void> {
  const event: NewEvent = { type: 'run:failed', data: { code, reason } }
  await store().append(ending(run, { at: ended_at, ordinal: at(0, 91), events: [event], state: 'failed' }))
}

async function numbers(store: Store, q: string): Promise<readonly number[]> {
  const { found, next } = await findRuns(store(), 'main', requireQuery(q, NOW), { limit: 100, now: NOW })
  expect(next).toBeUndefined()
  return found.map(({ facts }) => numberOf(facts))
}

function numberOf({ run_id }: Pick<RunFacts, 'run_id'>): number {
  return Number(run_id.slice('run_'.length))
}

const DAGS = ['brief', 'import', 'import-late']
const TEAMS: readonly (Labels | undefined)[] = [{ team: 'growth' }, { team: 'core', stage: 'prod' }, undefined]
const WORDS = ['red', 'green', 'blue']
const CODES = ['GATE_FAILED', 'BLOCK_FAILED']

/** Forty runs that differ in everything a query looks at, newest first. */
async function manyRuns(store: Store) {
  const all: { readonly facts: RunFacts; readonly words: ReadonlySet<string> }[] = []
  for (let n = 1; n <= 40; n += 1) all.unshift(await oneOfMany(store, n))
  return all
}

async function oneOfMany(store: Store, n: number) {
  const labels = TEAMS[n % 3]
  const words = WORDS.filter((_, i) => (n >> i) % 2 === 1)
  const starter = n % 4 === 0 ? 'user:ben' : 'user:ana'
  const made = newRun(n, { dag_name: DAGS[n % 3] ?? '', starter, ...(labels && { labels }) })
  const run = keyOf(made.meta)
  await store().create({ ...made, words })
  if (n % 5 === 0) await store().putLabels(run, { version: 1, values: { team: 'late' } })
  const spent = { tokens: n * 100, usd_micros: n * 10_000 }
  if (n % 2 === 0) await store().append(step(run, '0', 10, { settle: { reserved: NOTHING, spent } }))
  const reason = 'stopped by red tape'
  const ends = n % 3 === 0
  if (ends) await end(store, run, { code: CODES[n % 2] ?? '', reason, ended_at: time(n * 2_000) })
  if (n % 10 === 3) await store().putLabels(run, { version: 1, values: { team: 'after' } })
  const head = await store().head(run)
  if (head === undefined) throw new Error('the run is not there')
  return { facts: wholeFacts(made.meta, head), words: new Set(ends ? [...words, ...wordsIn(reason)] : words) }
}

const anyTerm = fc.oneof(
  fc.constantFrom(...DAGS, 'imp*').map((name) => `dag:${name}`),
  fc.constantFrom('team=growth', 'team=late', 'team=after', 'team', 'stage=prod').map((label) => `label:${label}`),
  fc
    .uniqueArray(fc.constantFrom('failed', 'running', 'cancelled'), { minLength: 1 })
    .map((any) => `state:${any.join()}`),
  fc.constantFrom('user:ana', 'user:ben').map((name) => `starter:${name}`),
  fc.constantFrom(...CODES).map((code) => `code:${code}`),
  fc.constantFrom(...WORDS, 'tape'),
  fc.integer({ min: 0, max: 42 }).map((n) => `time:>=${time(n * 1_000)}`),
  fc.integer({ min: 0, max: 42 }).map((n) => `time:<${time(n * 1_000)}`),
  fc.integer({ min: 0, max: 40 }).map((n) => `cost:>${(n / 100).toFixed(2)}`),
  fc.integer({ min: 0, max: 80 }).map((n) => `duration:<=${n}`),
)
const anyQuery = fc
  .array(fc.tuple(fc.boolean(), anyTerm), { maxLength: 4 })
  .map((terms) => terms.map(([negated, text]) => (negated ? `-${text}` : text)).join(' '))
