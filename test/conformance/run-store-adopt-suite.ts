import { describe, expect, test } from 'vitest'
import { placeOf, term } from '../../shared/runs/facts-index.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import { endFacts } from '../../shared/runs/run-facts.ts'
import type { EndedRun, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { ArtifactItem, BlockProjection } from '../../shared/runs/run-store-items.ts'
import {
  at,
  ending,
  keyOf,
  newRun,
  pending,
  question,
  ready,
  type Store,
  started,
  step,
  time,
} from './run-store-fixture.ts'

/** All that a store tells of a run. */
async function wholeRun(store: RunStore, run: RunKey, blocks: readonly number[]): Promise<EndedRun> {
  const [meta, head, context] = [await store.meta(run), await store.head(run), await store.context(run)]
  if (meta === undefined || head === undefined || context === undefined) throw new Error('there is no such run')
  const items: BlockProjection[] = []
  for (const block of blocks) items.push(...(await store.itemProjections(run, block)))
  return {
    ...{ meta, head, context },
    events: await store.events(run, 0, 10_000),
    projections: [...(await store.projections(run)), ...items],
    approvals: await store.approvals(run),
    artifacts: await store.artifacts(run),
    notes: await store.notes(run),
    words: await store.words(run),
  }
}

const ARTIFACT: ArtifactItem = {
  name: 'a/b.md',
  ref: `objstore://main/${'a'.repeat(64)}`,
  sha256: 'a'.repeat(64),
  bytes: 3,
  media_type: 'text/markdown',
  block_id: 'b0',
  attempt: 1,
}

const projection = (block: number, more: Partial<BlockProjection> = {}): BlockProjection => ({
  ...{ block, ordinal: at(1, 90), state: 'completed', attempt: 1 },
  ...more,
})

/** A run with something of everything, ended in the middle of a foreach block and with a question nobody answered. */
async function endedRun(store: RunStore, n: number): Promise<RunKey> {
  const made = newRun(n)
  const run = keyOf(made.meta)
  const meta = { ...made.meta, labels: { team: 'growth' } }
  await store.create({ ...made, meta, caps: { cap_tokens: 1_000 }, words: ['grünkohl'] })
  const steps = [
    step(run, '0', at(1, 10), { start: { block: 0, limit: 9 }, reserve: { tokens: 100, usd_micros: 7 } }),
    step(run, '0', at(1, 90), {
      end: { block: 0 },
      settle: { reserved: { tokens: 100, usd_micros: 7 }, spent: { tokens: 40, usd_micros: 5 } },
      projection: projection(0),
      stored_bytes: 12,
    }),
    step(run, '1', at(1, 10), { open_items: { block: 1 }, events: [started('b1', 1)] }),
    ...[0, 1, 2].map((item) =>
      step(run, `1.${item}`, at(1, 90), {
        item_of: { block: 1, below: at(1, 95) },
        projection: projection(1, { item }),
      }),
    ),
    step(run, 'm0', 1, { module: { key: '0', set: { epoch: 1, rules: { '0.0': { count: 1, epoch: 1 } } } } }),
    step(run, '2', at(1, 10), { child: { lane: '2', run_id: 'run_child' }, start: { block: 2, limit: 9 } }),
    step(run, 'a3', 1, { approval: { id: 'apr_1', was: null, set: pending(3) } }),
    ...Array.from({ length: 40 }, (_, i) => step(run, 'ctx', i + 1, { events: [ready(`x${i}`), ready('ü')] })),
  ]
  for (const one of steps) expect(await store.append(one)).toMatchObject({ ok: true })
  await store.putApproval(run, question('apr_1', 3), 'token-1')
  await store.noteMessage(run, 'apr_1', { channel: 'C1', ts: '1.2' })
  await store.putArtifact(run, ARTIFACT)
  await store.putContext(run, { version: 1, values: { goal: 'another' } }, 0)
  expect(await store.append(ending(run, { at: time(5_000), outbox: [] }))).toMatchObject({ ok: true })
  await store.putLabels(run, { version: 1, values: { team: 'growth', kind: 'trial' } })
  await store.putLabels(run, { version: 2, values: { team: 'core' } })
  await store.putNote(run, { id: 'note_1', at: time(6_000), by: 'user:ana', text: 'As it was there' })
  await store.addWords(run, ['served', 'late'])
  await store.settleOutbox(run, ['start'])
  await store.moveCheck(run, made.check_at, undefined)
  return run
}

/** A run that ended elsewhere is taken as it is: whoever reads it here is told what they were told there. */
export function adoptTests(store: Store, heavy: string[]): void {
  describe('runs of another store', { tags: heavy }, () => {
    const IDS = { from: 71, to: 72 }
    const renamed = (run: EndedRun, run_id: string): EndedRun => ({
      ...run,
      meta: { ...run.meta, run_id },
      events: run.events.map((event) => ({ ...event, run_id })),
    })

    test('are told as they were there, event by event and item by item, and their chain is closed', async () => {
      const from = await wholeRun(store(), await endedRun(store(), IDS.from), [1])
      const given = renamed(from, `run_${String(IDS.to).padStart(26, '0')}`)
      expect(await store().adopt(given)).toBe(true)
      const run = keyOf(given.meta)
      const { head, ...rest } = await wholeRun(store(), run, [1])
      expect(rest).toEqual({
        ...{ meta: given.meta, context: given.context, events: given.events, projections: given.projections },
        ...{ approvals: given.approvals, artifacts: given.artifacts, notes: given.notes, words: given.words },
      })
      expect(head).toEqual(given.head)
      expect(head).toMatchObject({ state: 'cancelled', outbox: [], running: ['2'] })
      expect(await store().sealed(run)).toEqual({ seq: given.events.length, hash: hashAfter(given.events) })
      expect(await store().approvalTokens(run, 'apr_1')).toEqual([])
      const listed = (await store().list('main', { limit: 100 })).runs.find(({ run_id }) => run_id === run.run_id)
      expect(listed).toMatchObject({ run_id: run.run_id, head: given.head })
      await expect
        .poll(async () =>
          (await store().inbox('main', { closed: true, limit: 100 })).asked.map(({ meta }) => meta.run_id),
        )
        .toContain(run.run_id)
      expect((await store().inbox('main', { closed: false, limit: 100 })).asked).toEqual([])
      expect(await store().due(time(10 ** 12), 100)).toEqual([])
    })

    test('are found by what they were found by there, and their labels are changed on from there', async () => {
      const from = await wholeRun(store(), await endedRun(store(), IDS.from), [1])
      const given = renamed(from, `run_${String(IDS.to).padStart(26, '0')}`)
      expect(given).toMatchObject({ head: { labels: { version: 2 } }, notes: [{ id: 'note_1' }] })
      expect(given.words).toEqual(expect.arrayContaining(['grünkohl', 'late', 'served']))
      await store().adopt(given)
      const run = keyOf(given.meta)
      const place = placeOf(given.meta)
      const [facts] = await store().factsAt('main', [place])
      expect(facts?.stored?.labels).toEqual({ team: 'core' })
      expect(facts?.stored?.end).toEqual(endFacts(given.head))
      const terms = [
        ...given.words.map(term.word),
        ...[term.label('team'), term.label('team', 'core'), term.dag(given.meta.dag_name), term.id(run.run_id)],
        ...[term.starter(given.meta.starter), term.state('cancelled'), term.code(given.head.ended?.code ?? '')],
      ]
      for (const of of terms) {
        expect([of, await store().placesUnder('main', of, { limit: 100 })]).toEqual([
          of,
          expect.arrayContaining([place]),
        ])
      }
      expect(await store().putLabels(run, { version: 2, values: {} })).toBe(false)
      expect(await store().putLabels(run, { version: 3, values: { team: 'ours' } })).toBe(true)
      expect((await store().factsAt('main', [place]))[0]?.stored).toMatchObject({
        labels: { team: 'ours' },
        end: { state: 'cancelled' },
      })
    })

    test('stay away where a run of that id was erased', async () => {
      const from = await wholeRun(store(), await endedRun(store(), IDS.from), [1])
      const run = keyOf(from.meta)
      const said = { by: 'user:ana', at: time(7_000), reason: 'They asked for it' }
      await store().beginErasure(run, { ...said, version: 1, step: 'emptying', children: [] }, undefined)
      await store().eraseItems(run)
      await expect(store().adopt(from)).rejects.toMatchObject({ code: 'run_erased', status: 410 })
      expect([await store().head(run), await store().notes(run), await store().words(run)]).toEqual([undefined, [], []])
    })

    test('take no place of a run that is there, and are not taken twice', async () => {
      const from = await wholeRun(store(), await endedRun(store(), IDS.from), [1])
      expect(await store().adopt({ ...from, artifacts: [], approvals: [] })).toBe(false)
      expect(await wholeRun(store(), keyOf(from.meta), [1])).toEqual(from)
      const given = renamed(from, `run_${String(IDS.to).padStart(26, '0')}`)
      expect(await store().adopt(given)).toBe(true)
      expect(await store().adopt(given)).toBe(false)
      expect(await wholeRun(store(), keyOf(given.meta), [1])).toEqual(given)
    })

    test('take no step any more, and a start of the same id finds them', async () => {
      const from = await wholeRun(store(), await endedRun(store(), IDS.from), [1])
      const given = renamed(from, `run_${String(IDS.to).padStart(26, '0')}`)
      await store().adopt(given)
      const run = keyOf(given.meta)
      expect(await store().append(step(run, '3', at(1, 10)))).toEqual({ ok: false, because: 'terminal' })
      expect(await store().create(newRun(IDS.to))).toEqual({ created: false, meta: given.meta })
      expect(await store().head(run)).toEqual(given.head)
    })
  })
}
