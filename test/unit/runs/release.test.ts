import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  drawRelease,
  isSameRelease,
  type Release,
  type Routing,
  readRelease,
  readRouting,
  shiftRouting,
  takeBackRouting,
  versionsToDelete,
} from '../../../shared/runs/release.ts'

const release = (n: number): Release => ({
  id: String(n).padStart(12, '0'),
  code: { RunBlock: `:${n}`, Settle: `:${n + 1}` },
})
const BY = { at: '2026-11-27T00:00:00.000Z', by: 'access key AKIAEXAMPLE' }
const of = ({ percent, to, from }: Routing) => [percent, to.id, from?.id]
const id = (n: number) => release(n).id

/** Deployments and commands in any order. */
const changes = fc.array(
  fc.oneof(
    fc.record({ shift: fc.integer({ min: 1, max: 100 }), to: fc.integer({ min: 1, max: 4 }) }),
    fc.constant('back' as const),
  ),
  { maxLength: 12 },
)
type Changes = typeof changes extends fc.Arbitrary<infer T> ? T : never

function play(all: Changes): readonly Routing[] {
  const seen: Routing[] = []
  for (const change of all) {
    const now = seen.at(-1)
    const next =
      change === 'back' ? now && takeBackRouting(now, BY) : shiftRouting(now, release(change.to), change.shift, BY)
    if (next !== undefined) seen.push(next)
  }
  return seen
}

describe('which release new runs begin with', () => {
  test('the first is for all of them, whatever is asked', () => {
    expect(of(shiftRouting(undefined, release(1), 10, BY))).toEqual([100, id(1), undefined])
  })

  test('a shift shares between the deployed one and the one before, and goes on from there', () => {
    const first = shiftRouting(undefined, release(1), 100, BY)
    const tenth = shiftRouting(first, release(2), 10, BY)
    expect(of(tenth)).toEqual([10, id(2), id(1)])
    expect(of(shiftRouting(tenth, release(2), 100, BY))).toEqual([100, id(2), id(1)])
    // What was on its way is passed over.
    expect(of(shiftRouting(tenth, release(3), 5, BY))).toEqual([5, id(3), id(1)])
    expect(of(shiftRouting(shiftRouting(tenth, release(2), 100, BY), release(3), 5, BY))).toEqual([5, id(3), id(2)])
  })

  test('taking back is for all, and leaves nothing to take back to', () => {
    const tenth = shiftRouting(shiftRouting(undefined, release(1), 100, BY), release(2), 10, BY)
    const back = takeBackRouting(tenth, BY)
    expect(back).toEqual({ percent: 100, to: release(1), ...BY, taken_back: id(2) })
    expect(back && takeBackRouting(back, BY)).toBeUndefined()
    expect(back && of(shiftRouting(back, release(3), 20, BY))).toEqual([20, id(3), id(1)])
  })

  test('whatever was deployed and commanded: two releases at the most, never one beside itself, and it is read as written', () => {
    void fc.assert(
      fc.property(changes, (all) => {
        for (const routing of play(all)) {
          expect(isSameRelease(routing.to, routing.from)).toBe(false)
          if (routing.from === undefined) expect(routing.percent).toBe(100)
          expect(readRouting(JSON.stringify(routing))).toEqual(routing)
          expect(readRelease(JSON.stringify(routing.to))).toEqual(routing.to)
        }
      }),
    )
  })

  test('who begins with the later release at some percent does so at more, and the share is as it was asked for', () => {
    const at = (percent: number): Routing => ({ percent, to: release(2), from: release(1), ...BY })
    void fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 99 }),
        (share, percent) => {
          if (drawRelease(at(percent), share).id === id(2)) expect(drawRelease(at(percent + 1), share).id).toBe(id(2))
        },
      ),
    )
    const shares = Array.from({ length: 1_000 }, (_, i) => i / 1_000)
    expect(shares.filter((share) => drawRelease(at(10), share).id === id(2))).toHaveLength(100)
    expect(shares.every((share) => drawRelease(at(100), share).id === id(2))).toBe(true)
  })
})

const DAY_MS = 86_400_000
const NOW = 1_000 * DAY_MS
const published = [1, 2, 3, 4, 5].flatMap((n) =>
  Object.entries(release(n).code).map(([placeholder, version]) => ({ placeholder, version, made_at: n * DAY_MS })),
)

describe('versions that may be deleted', () => {
  test('are those that are not deployed, not routed to, and with which no run began for longer than one lives', () => {
    const routing = { percent: 10, to: release(3), from: release(2), ...BY }
    const used = [
      { release: release(1), used_at: NOW - 401 * DAY_MS },
      { release: release(4), used_at: NOW - 399 * DAY_MS },
    ]
    const gone = versionsToDelete(published, { routing, deployed: release(5), used }, NOW)
    // Settle's second version is release 1's, and so is what release 2 has of RunBlock: each function is counted for itself.
    expect(gone.map(({ placeholder, version }) => placeholder + version)).toEqual(['RunBlock:1', 'Settle:2'])
  })

  test('no version of yesterday: its deployment may be under way', () => {
    const young = [{ placeholder: 'RunBlock', version: ':9', made_at: NOW - DAY_MS / 2 }]
    expect(versionsToDelete(young, { routing: undefined, deployed: release(1), used: [] }, NOW)).toEqual([])
  })

  test('whatever happened: none of a release that new runs may begin with', () => {
    void fc.assert(
      fc.property(changes, (all) => {
        const routing = play(all).at(-1)
        const gone = versionsToDelete(published, { routing, deployed: release(4), used: [] }, NOW)
        const needed = [release(4), routing?.to, routing?.from].flatMap((one) => Object.entries(one?.code ?? {}))
        for (const [placeholder, version] of needed)
          expect(gone.some((one) => one.placeholder === placeholder && one.version === version)).toBe(false)
      }),
    )
  })
})
