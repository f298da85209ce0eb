import { expect } from 'vitest'
import type { EventType, RunEvent } from '../../../shared/runs/event.ts'
import { provider, type TestPlace } from '../test-place.ts'

/** A gate a person may waive: the text holds `word`. */
export const asks = (name: string, word: string, port = 'text') => ({
  name,
  check: { type: 'contains', port, values: [word] },
  on_fail: 'ask',
})

/** A block that answers with its prompt; `from` are blocks it reads. */
export function block(id: string, from: readonly string[] = [], more: object = {}): object {
  return {
    id,
    inputs: Object.fromEntries(from.map((other) => [other, { from: `${other}.text` }])),
    outputs: { text: { type: 'string' } },
    agent: { provider: 'probe', model: 'm', prompt: id },
    ...more,
  }
}

/** Answers `<id> <round>`, or what `answers` says; counts the calls by block. */
export function counting(answers: Readonly<Record<string, (round: number) => string>> = {}, prompts: string[] = []) {
  const calls = new Map<string, number>()
  const probe = provider(({ prompt }) => {
    prompts.push(prompt)
    const id = prompt.split('\n')[0] ?? ''
    const round = (calls.get(id) ?? 0) + 1
    calls.set(id, round)
    return answers[id]?.(round) ?? `${id} ${round}`
  })
  return { probe, calls: (id: string) => calls.get(id) ?? 0 }
}

export const all = <T extends EventType>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)

type Requested = Extract<RunEvent, { type: 'approval:requested' }>

/** The `n`th question about a block, once it is asked. */
export async function asked(place: TestPlace, run: string, block_id: string, n = 1): Promise<Requested['data']> {
  const event = await place.until(run, ({ type, data, block_id: of }) => {
    return type === 'approval:requested' && of === block_id && data.approval_id.endsWith(`_a${n}`)
  })
  return (event as Requested).data
}

/** Decides on exactly what was shown. */
export function decide(
  place: TestPlace,
  run: string,
  { approval_id, digest }: Requested['data'],
  decision: 'approve' | 'reject' | 'waive',
  feedback?: string,
) {
  const words = feedback === undefined ? {} : { feedback }
  return place.call('decide-approval', run, { approval_id, digest, decision, ...words })
}

/** Every invariant one stored run can be asked about. */
export async function expectVerified(place: TestPlace, run: string): Promise<void> {
  const { json } = await place.call('verify-run', run)
  const { checks } = json as unknown as {
    readonly checks: readonly { readonly n: number; readonly problems: readonly string[] }[]
  }
  expect(checks.flatMap(({ n, problems }) => problems.map((problem) => `${n}: ${problem}`))).toEqual([])
}

/** Status of GET outputs of a block. */
export async function proxyStatus(place: TestPlace, run_id: string, block_id: string): Promise<number> {
  const proxy = { httpMethod: 'GET', path: '/', pathParameters: { run_id, block_id }, queryStringParameters: null }
  const answer = await place.place.invoke('get-outputs', { ...proxy, headers: {}, body: null, isBase64Encoded: false })
  return (answer as { readonly statusCode: number }).statusCode
}
