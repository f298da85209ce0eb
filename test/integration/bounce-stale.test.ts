import { expect, test } from 'vitest'
import type { Head } from '../../shared/runs/head.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { block, bounce, probe, story } from './loop.ts'
import { openTestPlace } from './test-place.ts'

test('an invocation that read HEAD before the bounce does not skip what the bounce gives another chance (simulated seed 403239)', async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>()
  const build = async (round: number) => {
    if (round === 2) await until
    return round === 2 ? 'good' : 'bad'
  }
  const place = await openTestPlace({ providers: { probe: probe({ build, review: () => 'good' }) } })
  try {
    const { runs } = place.place.world
    const head = runs.head.bind(runs)
    let stale: Head | undefined
    Object.assign(runs, {
      head: async (...asked: Parameters<typeof head>) => {
        const now = await head(asked[0])
        if (now !== undefined && lostOnce(now)) stale = now
        return head(...asked)
      },
    })
    const id = await place.start({
      blocks: [block('build', [], bounce('build', 1)), block('review', ['build'], bounce('build', 1))],
    })
    const { seq } = await place.until(id, ({ type }) => type === 'block:rerouted')
    await place.until(id, (event) => event.seq > seq && event.type === 'block:started')

    const reads = [stale]
    expect(stale).toBeDefined()
    Object.assign(runs, { head: async (...asked: Parameters<typeof head>) => reads.pop() ?? head(...asked) })
    const late = { in: { v: 1, tenant: 'main', run_id: id }, block: 'review', e: 0 }
    await expect(place.place.invoke('run-block', late)).rejects.toMatchObject({ name: 'RetryBlock' })
    go()
    expect(story(await place.ended(id)).filter((line) => line.startsWith('review'))).toEqual([
      'review started',
      'review completed',
    ])
  } finally {
    await place.close()
  }
})

/** build has failed, and the module was not sent back yet. */
function lostOnce({ lanes, modules }: Head): boolean {
  const lane = lanes['0']
  return lane !== undefined && readOrdinal(lane).phase === PHASE.failed && modules['0'] === undefined
}
