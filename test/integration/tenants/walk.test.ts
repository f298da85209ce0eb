import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type WebhookReceiver } from '../../emulators/webhook-receiver.ts'
import { atMost } from '../../how-much.ts'
import { TENANTS } from './door.ts'
import { openLocalDoor, SECRET } from './local-door.ts'
import { type Step, stepsArbitrary, walk } from './walk.ts'

let hook: WebhookReceiver
beforeAll(async () => {
  hook = await openReceiver([SECRET])
})
afterAll(() => hook.close())

/** What is told in a place of its own. */
async function walked(steps: readonly Step[]) {
  const door = await openLocalDoor(hook)
  try {
    return await walk(door, steps)
  } finally {
    await door.close()
  }
}

test('what a tenant is answered, and its world, are those of it alone, whatever the other one does meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(stepsArbitrary, async (steps) => {
      const together = await walked(steps)
      for (const tenant of TENANTS) {
        const alone = await walked(steps.filter(({ by }) => by === tenant))
        expect(together.get(tenant)).toEqual(alone.get(tenant))
      }
    }),
    // Shrinking opens places by the hundred: what it has by then is told.
    { numRuns: atMost(10, 1), interruptAfterTimeLimit: 120_000, markInterruptAsFailure: true },
  )
}, 180_000)
