import { expect } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

/** A place whose provider counts what it is asked, and does as a test says. */
export interface RetryPlace {
  readonly place: TestPlace
  /** Blocks asked since the last look, in order: the first word of each prompt. */
  asked(): readonly string[]
  /** Prompts of the blocks that are refused for good until they are taken out again. */
  readonly failing: Set<string>
  /** Starts and waits for the end. */
  run(dag: string | object, given?: object): Promise<EndedRun>
  /** Retries and waits for the end. */
  retry(of: string | EndedRun, body?: object): Promise<EndedRun & { readonly expected: readonly string[] }>
  /** Value of an output of a block, of the first one if none is named. */
  output(run: EndedRun, block: string, port?: string): Promise<unknown>
}

export interface EndedRun {
  readonly id: string
  readonly end: string
  readonly events: readonly RunEvent[]
  /** Block -> the run whose result stood in for a dispatch. */
  readonly taken: Readonly<Record<string, string>>
}

export async function openRetryPlace(): Promise<RetryPlace> {
  const failing = new Set<string>()
  let prompts: string[] = []
  const probe = provider(({ prompt }) => {
    const [id = ''] = prompt.split(/\s/)
    prompts.push(id)
    if (failing.has(id)) throw new Fault('InvalidInput', 'refused', `"${id}" is refused`)
    return `<${prompt}>`
  })
  const place = await openTestPlace({ providers: { probe } })
  const ended = async (id: string): Promise<EndedRun> => {
    const events = await place.ended(id)
    return { id, events, end: String(events.at(-1)?.type), taken: takenOf(events) }
  }
  return {
    place,
    failing,
    asked() {
      const seen = prompts
      prompts = []
      return seen
    },
    run: async (dag, given = {}) => ended(await place.start(dag, given as Record<string, unknown>)),
    async retry(of, body = {}) {
      const { status, json } = await place.call('retry-run', typeof of === 'string' ? of : of.id, body)
      if (status !== 201) throw new Error(JSON.stringify(json))
      const answer = json as unknown as { run_id: string; reused_expected: readonly string[] }
      return { ...(await ended(answer.run_id)), expected: answer.reused_expected }
    },
    async output({ id }, block, port) {
      const answer = (await place.place.invoke('get-outputs', {
        ...GET,
        pathParameters: { run_id: id, block_id: block },
      })) as { body: string }
      const { outputs } = JSON.parse(answer.body) as { outputs?: Record<string, unknown> }
      return port === undefined ? Object.values(outputs ?? {})[0] : outputs?.[port]
    },
  }
}

const GET = { httpMethod: 'GET', path: '/', queryStringParameters: null, headers: {}, body: null }

function takenOf(events: readonly RunEvent[]): Record<string, string> {
  const taken: Record<string, string> = {}
  for (const event of events) {
    if (event.type !== 'block:completed' || event.data.cached_from === undefined) continue
    taken[event.item === undefined ? String(event.block_id) : `${event.block_id}.${event.item}`] =
      event.data.cached_from
  }
  return taken
}

/** An ai block that reads `from`: its prompt is its id and what they gave. */
export function ai(id: string, from: readonly string[] = [], more: object = {}, words = ''): object {
  const reads = from.map((other) => `{{inputs.${other}}}`).join(' ')
  return {
    id,
    inputs: Object.fromEntries(from.map((other) => [other, { from: `${other}.text` }])),
    outputs: { text: { type: 'string' } },
    agent: { provider: 'probe', model: 'm', prompt: `${id} ${words} ${reads}` },
    ...more,
  }
}

/** What a retry did: whom it asked, whose results it took. */
export function expectRetried(
  place: RetryPlace,
  run: EndedRun,
  { asked, taken }: { readonly asked: readonly string[]; readonly taken: Readonly<Record<string, string>> },
): void {
  expect({ asked: [...place.asked()].sort(), taken: run.taken }).toEqual({ asked: [...asked].sort(), taken })
}
