import { afterEach } from 'vitest'
import type { Machine, MachineInput, TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { VirtualClock } from '../virtual-clock.ts'

export type TestFunction = (payload: Json, signal: AbortSignal) => Json | Promise<Json>

/** A machine under test: its functions are the suite's, its time is virtual. */
export interface MachinePlace {
  readonly machine: Machine
  readonly clock: VirtualClock
  close(): Promise<void>
}

/** Machine text names functions as `${Name}`; the place binds them so that a call reaches `functions[Name]`. */
export type OpenMachine = (functions: Readonly<Record<string, TestFunction>>) => Promise<MachinePlace>

const INVOKE = 'arn:aws:states:::lambda:invoke'
const CALLBACK = 'arn:aws:states:::lambda:invoke.waitForTaskToken'
export const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }
export const DAY = 86_400_000

export type Loose = Readonly<Record<string, unknown>>

export const call = (name: string, payload: unknown, rest: Loose = { End: true }): Loose => ({
  Type: 'Task',
  Resource: INVOKE,
  Arguments: { FunctionName: `\${${name}}`, Payload: payload },
  ...rest,
})
export const ask = (rest: Loose = { End: true }, name = 'Ask'): Loose =>
  call(name, { token: '{% $states.context.Task.Token %}' }, { Resource: CALLBACK, ...rest })
/** Shows a value to the function `See`: the port itself tells no outputs. */
export const see = (value: unknown, rest: Loose = { End: true }): Loose => call('See', value, rest)
export const seeInput = see('{% $states.input %}')
export const payloadOut = { Output: '{% $states.result.Payload %}' }
export const machine = (startAt: string, states: Loose, rest: Loose = {}): string =>
  JSON.stringify({ QueryLanguage: 'JSONata', StartAt: startAt, States: states, ...rest })
export const branch = (startAt: string, states: Loose): Loose => ({ StartAt: startAt, States: states })
export const retry = (rest: Loose = {}): Loose => ({
  ErrorEquals: ['States.ALL'],
  IntervalSeconds: 1,
  BackoffRate: 1,
  MaxAttempts: 3,
  ...rest,
})

export class Named extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}
export const succeeded = { status: 'SUCCEEDED' }

/** Opens a place for each test that asks and closes them all behind it. */
export function machineStarter(open: OpenMachine) {
  const opened: MachinePlace[] = []
  let hashes = 0
  afterEach(async () => {
    for (const place of opened.splice(0)) await place.close()
  })

  /** Starts `definition`; `seen` collects what See was given, `tokens` what Ask was. */
  return async (definition: string, functions: Readonly<Record<string, TestFunction>> = {}) => {
    const seen: Json[] = []
    const tokens: string[] = []
    const place = await open({
      See: (payload) => {
        seen.push(payload)
        return payload
      },
      Ask: (payload) => {
        tokens.push((payload as { token: string }).token)
        return 'ignored'
      },
      ...functions,
    })
    opened.push(place)
    hashes += 1
    const hash = `hash${hashes}`
    const id = await place.machine.ensure(definition, hash)
    const started = await place.machine.start({ machine: id, name: 'run_a', input: INPUT })
    await place.clock.settle()
    return {
      ...place,
      id,
      hash,
      started,
      seen,
      tokens,
      now: () => place.machine.describe(id, 'run_a'),
      answer: (answer: TokenAnswer, index = 0) => place.machine.answer(tokens[index] ?? 'none', answer),
    }
  }
}

export type Start = ReturnType<typeof machineStarter>
