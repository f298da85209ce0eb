import { expect, test } from 'vitest'
import { callWithRetries } from '../../../clients/cli/server/api.ts'
import { Refused } from '../../../clients/cli/terminal/refused.ts'

/** What a command does where the place says 429: it waits for windows of a rate, not for the next day or month. */
const refused = (retry_after_ms: number) =>
  new Refused({ code: 'limit', detail: 'a limit is reached', facts: { retry_after_ms } }, { status: 429 })

async function attempts(retry_after_ms: number) {
  const seen = { tries: 0, waits: [] as number[] }
  const call = async () => {
    seen.tries += 1
    if (seen.tries < 3) throw refused(retry_after_ms)
    return 'answered'
  }
  const answer = await callWithRetries(call, { note: (_, ms) => seen.waits.push(ms) }).catch((error: unknown) => error)
  return { answer, ...seen }
}

test('a window is waited for', async () => {
  expect(await attempts(1)).toEqual({ answer: 'answered', tries: 3, waits: [1, 1] })
})

test.each([3_600_000, 86_400_000, 2_592_000_000])('%i ms are not: what was said is told at once', async (ms) => {
  expect(await attempts(ms)).toMatchObject({ answer: { status: 429 }, tries: 1, waits: [] })
})
