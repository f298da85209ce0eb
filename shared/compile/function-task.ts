import { FUNCTIONS } from '../catalog.ts'
import { Fault } from '../errors.ts'
import type { Retrier, TaskState } from './asl.ts'

/** The parts every Task of ours is made of. What is retried: docs/adr/0027. */
const THROTTLED: Retrier = {
  ErrorEquals: ['Lambda.TooManyRequestsException'],
  IntervalSeconds: 2,
  BackoffRate: 1.5,
  MaxDelaySeconds: 60,
  MaxAttempts: 500,
  JitterStrategy: 'FULL',
}
/** What a function means to say: never retried by the machine itself, whatever else is (docs/adr/0027). */
const OUR_ANSWERS: Retrier = {
  ErrorEquals: ['RetryBlock', 'AskPerson', 'InvalidInput', 'NotFound', 'Bug'],
  MaxAttempts: 0,
}
/** A wait for a token is retried for these only: it has no time-out of its own but an approval's, which is an answer. */
const INFRASTRUCTURE = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Runtime.ExitError',
]

type FunctionTask = Pick<TaskState, 'Type' | 'Resource' | 'Arguments' | 'Retry'>

/**
 * A Task that invokes one of our functions and goes on with its answer. Payloads carry ids only; `in` is the
 * execution input, taken from the context object, so what a state is given as input never matters. `patience` changes the
 * last Retrier.
 */
export function callFunction(
  name: string,
  payload: Readonly<Record<string, unknown>> = {},
  patience: Partial<Retrier> = {},
): FunctionTask {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Arguments: argumentsFor(name, payload),
    Retry: [OUR_ANSWERS, THROTTLED, { ...retryOf(['States.ALL']), ...patience }],
  }
}

/**
 * A join, which its last source answers, or a question in the middle of an attempt, which the store expires. It has no
 * time-out of its own, so that whatever goes wrong is a fault of the call, which is safe to repeat.
 */
export function awaitUntimed(name: string, payload: Readonly<Record<string, unknown>>): FunctionTask {
  return { ...awaitToken(name, payload), Retry: [THROTTLED, retryOf(['States.ALL'])] }
}

/**
 * A Task that invokes one of our functions and then waits until somebody answers its task token. A time-out here means
 * that nobody did: it is not retried.
 */
export function awaitToken(name: string, payload: Readonly<Record<string, unknown>>): FunctionTask {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
    Arguments: argumentsFor(name, { ...payload, token: '{% $states.context.Task.Token %}' }),
    Retry: [THROTTLED, retryOf([...INFRASTRUCTURE, 'Unavailable'])],
  }
}

function argumentsFor(name: string, payload: Readonly<Record<string, unknown>>) {
  return { FunctionName: placeholderOf(name), Payload: { in: '{% $states.context.Execution.Input %}', ...payload } }
}

function placeholderOf(name: string): string {
  const placeholder = FUNCTIONS.find((line) => line.name === name)?.placeholder
  if (placeholder === undefined) {
    throw new Fault('Bug', 'unknown_function', `Cannot call "${name}": the catalog has no placeholder for it.`)
  }
  return `\${${placeholder}}`
}

function retryOf(errors: readonly string[]): Retrier {
  return { ErrorEquals: errors, IntervalSeconds: 2, MaxAttempts: 5, JitterStrategy: 'FULL' }
}
