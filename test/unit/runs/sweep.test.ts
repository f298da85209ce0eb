import { expect, test } from 'vitest'
import { handler } from '../../../functions/runs/sweep.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

/** A sweep over so many runs that are due: a look takes `ms` of them away, or none where `stays`. */
async function sweptOf(runs: number, { ms = 0, stays = false } = {}) {
  let due = Array.from({ length: runs }, (_, i) => ({ tenant: 'main', run_id: `run_${i}` }))
  let now = 0
  const seen: string[] = []
  const nothing = async () => undefined
  const store = {
    due: async (_at: string, limit: number) => due.slice(0, limit),
    leases: async () => ({}),
    queued: async () => [],
    startHold: nothing,
    head: nothing,
    mark: async ({ run_id }: { readonly run_id: string }) => {
      seen.push(run_id)
      now += ms
      if (!stays) due = due.filter((run) => run.run_id !== run_id)
    },
  }
  const world = {
    runs: store,
    clock: { now: () => now, delay: nothing },
    settings: SettingsSchema.parse({}),
    log: { info: () => undefined, error: () => undefined, note: () => undefined },
  }
  const answer = await handler({}, { world } as unknown as Parameters<typeof handler>[1])
  return { answer, seen }
}

test('a sweep looks at all that is due, page after page', async () => {
  const { answer, seen } = await sweptOf(1_234)
  expect(answer).toEqual({ looked: 1_234 })
  expect(new Set(seen).size).toBe(1_234)
})

test('one that has no more time leaves the rest to the next', async () => {
  expect((await sweptOf(1_234, { ms: 250 })).answer).toEqual({ looked: 200 })
})

test('what stays due is looked at once a sweep', async () => {
  expect((await sweptOf(1_234, { stays: true })).seen).toHaveLength(100)
})
