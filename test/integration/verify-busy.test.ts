import { expect, test } from 'vitest'
import type { Execution } from '../../shared/runs/machine.ts'
import { openTestPlace, provider } from './test-place.ts'

test('a machine that still takes its last steps is no disagreement yet: 33 is left out, and asked five minutes later', {
  tags: ['thorough'],
}, async () => {
  const place = await openTestPlace({ providers: { probe: provider(() => 'x') } })
  try {
    const agent = { provider: 'probe', model: 'm', prompt: 'p' }
    const id = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] })
    await place.ended(id)
    const { machine, clock } = place.place.world
    const busy = async (): Promise<Execution> => ({ status: 'RUNNING' })
    Object.assign(machine, { describe: busy })
    const soon = verified(await place.call('verify-run', id))
    expect(soon.ok).toBe(true)
    expect(soon.checks.find(({ n }) => n === 33)).toMatchObject({ left_out: expect.any(String) })
    const now = clock.now.bind(clock)
    Object.assign(clock, { now: () => now() + 301_000 })
    const later = verified(await place.call('verify-run', id))
    expect(later.ok).toBe(false)
    expect(later.checks.filter(({ ok }) => ok === false).map(({ n }) => n)).toEqual([33])
  } finally {
    await place.close()
  }
})

test.each(['before', 'behind'])(
  'a run that ends right %s its seal is read has its whole chain (simulated seed 11002040)',
  async (when) => {
    const place = await openTestPlace({ providers: { probe: provider(() => 'x') } })
    try {
      const agent = { provider: 'probe', model: 'm', prompt: 'p' }
      const id = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent, approval: true }] })
      await place.until(id, ({ type }) => type === 'approval:requested')
      const { runs, clock } = place.place.world
      const now = clock.now.bind(clock)
      const run = { tenant: 'main', run_id: id }
      const end = async () => {
        await place.call('stop-run', id, {})
        Object.assign(clock, { now: () => now() + 120_000 })
        await place.place.invoke('sweep', {})
        const owed = async () => [(await runs.head(run))?.outbox.length, (await runs.head(run))?.check_at]
        await expect.poll(owed).toEqual([0, undefined])
      }
      const { sealed } = runs
      let ended = false
      Object.assign(runs, {
        async sealed(key: typeof run) {
          const seal = when === 'behind' ? await sealed(key) : undefined
          await end()
          ended = true
          return seal ?? sealed(key)
        },
      })
      const found = verified(await place.call('verify-run', id))
      expect(ended).toBe(true)
      expect(found.checks.filter(({ ok }) => ok === false)).toEqual([])
    } finally {
      await place.close()
    }
  },
)

interface Verified {
  readonly ok: boolean
  readonly checks: readonly { readonly n: number; readonly ok?: boolean; readonly left_out?: string }[]
}

function verified({ json }: { readonly json: unknown }): Verified {
  return json as Verified
}
