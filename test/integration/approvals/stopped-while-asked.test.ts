import { afterEach, describe, expect, test } from 'vitest'
import type { Append, RunStore } from '../../../shared/runs/run-store.ts'
import { type ApprovalPlace, deploy, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const asks = ({ events }: Append) => events.some(({ type }) => type === 'approval:requested')
const stops = ({ events }: Append) => events.some(({ type }) => type === 'block:cancelled')

/** Does something right before the first append that fits is written. */
function before(place: ApprovalPlace, fits: (append: Append) => boolean, act: (append: Append) => Promise<unknown>) {
  const runs = place.place.world.runs as { append: RunStore['append'] }
  const { append } = runs
  let met = false
  runs.append = async (given) => {
    if (!met && fits(given)) {
      met = true
      await act(given)
    }
    return append(given)
  }
}

describe('a block that is stopped at the moment it asks', () => {
  test('before its question is recorded: nobody is asked, and the run ends', async () => {
    open = await openApprovalPlace()
    const place = open
    let stopped: { readonly status: number } | undefined
    before(place, asks, async ({ run }) => {
      stopped = await place.call('stop-run', run.run_id, { block_id: 'deploy' })
    })
    const id = await place.start(deploy({ timeout_sec: 3_600 }))
    const events = await place.ended(id)
    expect(stopped?.status).toBe(200)
    expect(events.some(({ type }) => type === 'approval:requested')).toBe(false)
    expect(await place.problems(id)).toEqual([])
  })

  const failing = {
    blocks: [
      {
        id: 'deploy',
        mode: 'deterministic',
        outputs: { text: { type: 'string' } },
        deterministic: { handler: 'transform', config: { expression: '"short"' } },
        post_gates: [{ name: 'long', check: { type: 'min_length', port: 'text', min: 100 }, on_fail: 'ask' }],
      },
    ],
  }

  test.each([
    ['its dispatch', deploy({ timeout_sec: 3_600 })],
    ['its failed gates', failing],
  ])('after the stop was read and before it is written: the question about %s is cancelled', async (_what, dag) => {
    open = await openApprovalPlace()
    const place = open
    let release = (): void => {}
    const asked = new Promise<void>((resolve) => {
      release = resolve
    })
    const runs = place.place.world.runs as { append: RunStore['append'] }
    const { append } = runs
    let stopping: Promise<unknown> | undefined
    let held = false
    runs.append = async (given) => {
      if (asks(given) && stopping === undefined) {
        // The stop has read HEAD without the question, and waits for it.
        stopping = place.call('stop-run', given.run.run_id, { block_id: 'deploy' })
        while (!held) await place.place.world.clock.delay(5)
        const done = await append(given)
        release()
        return done
      }
      if (stops(given) && !held) {
        held = true
        await asked
      }
      return append(given)
    }
    const id = await place.start(dag)
    await place.ended(id)
    await stopping
    const head = await place.place.world.runs.head({ tenant: 'main', run_id: id })
    expect(Object.values(head?.approvals ?? {}).map(({ status }) => status)).toEqual(['cancelled'])
    expect(await place.problems(id)).toEqual([])
  })
})
