import { expect, test } from 'vitest'
import type { Erasure, SaidWhy } from '../../shared/runs/erasure.ts'
import { labelTerms, placeOf, term } from '../../shared/runs/facts-index.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { at, begun, ending, keyOf, newRun, pending, question, type Store, step, time } from './run-store-fixture.ts'
import { cachedResult } from './run-store-model.ts'

const SAID: SaidWhy = { by: 'user:ana', at: time(20), reason: 'They asked for it' }
const ASKED: Erasure = { ...SAID, version: 1, step: 'asked', children: [] }
const hash = (n: number) => n.toString(16).padStart(64, '0')

/** What holds and erasures need (RunMarks in shared/runs/erasure.ts). */
export function erasureTests(store: Store): void {
  const due = async (at: string) => (await store().due(at, 100)).map(({ run_id }) => run_id)
  const over = async (n = 1): Promise<RunKey> => {
    const run = await begun(store, n)
    await store().append(ending(run))
    await store().settleOutbox(run, ['start'])
    const head = await store().head(run, [])
    if (head?.check_at !== undefined) await store().moveCheck(run, head.check_at, undefined)
    return run
  }

  test('a run that nobody marked has no mark', async () => {
    expect(await store().mark(await over())).toBeUndefined()
    expect(await store().releaseRun(keyOf(newRun(1).meta))).toBe(false)
  })

  test('who holds a run first stays, it cannot be erased, and is looked at when its time comes', async () => {
    const run = await over()
    expect(await store().holdRun(run, SAID, time(50))).toBe('held')
    expect(await store().holdRun(run, { ...SAID, by: 'user:ben' }, time(90))).toBe('held')
    expect(await store().mark(run)).toEqual({ hold: SAID, check_at: time(50) })
    expect(await store().beginErasure(run, ASKED, time(30))).toBe('held')
    expect([await due(time(49)), await due(time(50))]).toEqual([[], [run.run_id]])
    await store().moveMark(run, time(49), time(70))
    expect(await due(time(50))).toEqual([run.run_id])
    await store().moveMark(run, time(50), time(70))
    expect(await due(time(60))).toEqual([])
    expect([await store().releaseRun(run), await store().releaseRun(run)]).toEqual([true, false])
    expect([await store().mark(run), await due(time(99))]).toEqual([undefined, []])
    expect(await store().beginErasure(run, ASKED, time(30))).toEqual(ASKED)
  })

  test('nobody holds what is not there, or is being erased', async () => {
    expect(await store().holdRun(keyOf(newRun(9).meta), SAID, time(50))).toBe('unknown_run')
    const run = await over()
    await store().beginErasure(run, ASKED, time(30))
    expect(await store().holdRun(run, SAID, time(50))).toBe('erasing')
    await store().eraseItems(run)
    expect(await store().holdRun(run, SAID, time(50))).toBe('erasing')
  })

  test('of ten who ask one erases, and the others are answered that', async () => {
    const run = await over()
    const asks = Array.from({ length: 10 }, (_, i) => ({ ...ASKED, reason: `because of ${i}` }))
    const answers = await Promise.all(asks.map((ask) => store().beginErasure(run, ask, time(30))))
    const kept = (await store().mark(run))?.erasure
    expect(answers).toEqual(asks.map(() => kept))
    expect(await due(time(30))).toEqual([run.run_id])
  })

  test('it goes on step by step: of two who move it one does', async () => {
    const run = await over()
    await store().beginErasure(run, ASKED, time(30))
    const next: Erasure = { ...ASKED, version: 2, step: 'emptying', bodies: { named: 3 } }
    const moved = await Promise.all(
      [next, { ...next, step: 'bodies' as const }].map((to) => store().moveErasure(run, to, time(40))),
    )
    expect(moved.toSorted()).toEqual([false, true])
    expect(await store().moveErasure(run, { ...next, version: 5 }, time(90))).toBe(false)
    const last: Erasure = { ...next, version: 3, step: 'erased', erased_at: time(60), proof: hash(1) }
    expect(await store().moveErasure(run, last, undefined)).toBe(true)
    expect(await store().mark(run)).toEqual({ erasure: last })
    expect(await due(time(99))).toEqual([])
  })

  test('what others name stays, whoever writes the list again', async () => {
    const run = await over()
    const all = Array.from({ length: 4_100 }, (_, i) => hash(i))
    await store().keepErasing(run, all)
    await Promise.all([store().spareBodies(run, [hash(1), hash(2)]), store().spareBodies(run, [hash(2), hash(4_099)])])
    await store().spareBodies(run, [])
    await store().keepErasing(run, all)
    const { bodies, spared } = await store().erasing(run)
    expect(spared.toSorted()).toEqual([hash(1), hash(2), hash(4_099)])
    expect(bodies.toSorted()).toEqual(all.filter((one) => !spared.includes(one)))
    await store().sweepOut(run)
    expect(await store().erasing(run)).toEqual({ bodies: [], spared: [] })
  })

  test('nothing of it is left but its mark and what is to go; no run of its id is made again, and others stay', async () => {
    const [run, other] = [await begun(store, 1), await over(2)]
    await store().append(step(run, '0', at(1, 10), { start: { block: 0, limit: 0 } }))
    await store().append(step(run, 'a1', 10, { approval: { id: 'p', was: null, set: pending(1) } }))
    await store().putApproval(run, question('p', 1), 'token')
    await store().putProjection(run, { block: 0, ordinal: at(1, 10), state: 'running', attempt: 1 })
    await store().putStop(run)
    await store().append(ending(run))
    await store().beginErasure(run, ASKED, time(30))
    await store().keepErasing(run, [hash(7)])
    await store().eraseItems(run)
    await store().eraseItems(run)
    expect([await store().head(run), await store().meta(run), await store().context(run)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect([await store().events(run, 0, 100), await store().approvals(run), await store().projections(run)]).toEqual([
      [],
      [],
      [],
    ])
    expect([await store().approvalTokens(run, 'p'), await store().stopped(run)]).toEqual([[], false])
    expect((await store().list('main', { limit: 10 })).runs.map(({ run_id }) => run_id)).toEqual([other.run_id])
    expect([await store().mark(run), await store().erasing(run)]).toMatchObject([
      { erasure: ASKED },
      { bodies: [hash(7)] },
    ])
    await expect(store().create(newRun(1))).rejects.toMatchObject({ code: 'run_erased', status: 410 })
    expect(await store().append(step(run, '0', at(2, 10)))).toEqual({ ok: false, because: 'unknown_run' })
    expect(await store().events(other, 0, 100)).not.toEqual([])
  })

  test('nothing finds it any more by what it was found by, in whichever order its labels changed, and others are found', async () => {
    const made = (n: number) => ({
      ...newRun(n),
      meta: { ...newRun(n).meta, labels: { team: 'a' }, subjects: [hash(4711)] },
      words: ['secret'],
    })
    const runs = [made(1), made(2)]
    for (const one of runs) {
      const run = keyOf(one.meta)
      await store().create(one)
      await store().putLabels(run, { version: 1, values: { team: 'b' } })
      await store().append(ending(run))
      await store().addWords(run, ['later'])
      await store().putLabels(run, { version: 2, values: { team: 'c' } })
      await store().putNote(run, { id: 'note_1', at: time(30), by: 'user:ana', text: 'secret' })
      await store().settleOutbox(run, ['start'])
    }
    const [gone, other] = runs.map(({ meta }) => meta)
    if (gone === undefined || other === undefined) throw new Error('there are two')
    const labels = ['a', 'b', 'c'].flatMap((value) => labelTerms({ team: value }))
    const named = [term.dag(gone.dag_name), term.starter(gone.starter), term.id(gone.run_id), term.state('cancelled')]
    const terms = [...labels, ...named, term.subject(hash(4711)), ...['secret', 'later'].map(term.word)]
    const found = async (of: string) => store().placesUnder('main', of, { limit: 10 })
    for (const of of terms) expect([of, await found(of)]).toEqual([of, expect.arrayContaining([placeOf(gone)])])
    await store().beginErasure(keyOf(gone), ASKED, time(30))
    await store().eraseItems(keyOf(gone))
    await store().eraseItems(keyOf(gone))
    for (const of of terms) expect([of, await found(of)]).toEqual([of, expect.not.arrayContaining([placeOf(gone)])])
    expect(await found(term.label('team', 'b'))).toEqual([placeOf(other)])
    expect((await store().facts('main', { limit: 10 })).map(({ place }) => place)).toEqual([placeOf(other)])
    expect([await store().notes(keyOf(gone)), await store().words(keyOf(gone))]).toEqual([[], []])
    expect(await store().notes(keyOf(other))).toHaveLength(1)
    expect(await store().putLabels(keyOf(gone), { version: 3, values: { team: 'd' } })).toBe(false)
    expect(await found(term.label('team', 'd'))).toEqual([])
  })

  test('a kept result goes if it is one of the run', async () => {
    const run = await over()
    const own = { ...cachedResult(1), run_id: run.run_id }
    await store().putCached('main', 'h', 'own', own)
    await store().putCached('main', 'h', 'others', cachedResult(2))
    for (const inputs of ['own', 'others', 'none']) await store().dropCached(run, 'h', inputs)
    expect(await store().cached('main', 'h', 'own')).toBeUndefined()
    expect(await store().cached('main', 'h', 'others')).toEqual(cachedResult(2))
  })
}
