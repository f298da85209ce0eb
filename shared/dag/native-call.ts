import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { redactSecrets } from '../text/redact.ts'
import { STEP_PATH } from './handlers.ts'
import { textsIn } from './service-request.ts'

/** Names an operator gives functions, containers and resources: they stand in settings and documents. */
const CALLED_NAME = /^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/
const CALLED_NAME_RULE = 'small letters, digits, and single "-" or "_" between them, 48 at most'
export const CalledNameSchema = z.string().max(48).regex(CALLED_NAME, CALLED_NAME_RULE)

/**
 * Calls of Step Functions: `sqs:sendMessage`, `ecs:runTask.sync`, `aws-sdk:s3:getObject`. None waits for a task token:
 * nobody outside is told one.
 */
export const CALL_NAME =
  /^(?:aws-sdk:[a-z0-9]{1,40}:[a-z][A-Za-z0-9]{0,80}|(?!aws-sdk:)[a-z0-9-]{1,40}:[a-z][A-Za-z0-9]{0,80}(?:\.sync(?::2)?)?)$/
export const CALL_NAME_RULE =
  'SERVICE:ACTION of Step Functions, like sqs:sendMessage or ecs:runTask.sync, or aws-sdk:SERVICE:ACTION'

const json = z.custom<Json>((value) => value !== undefined)
const program = z.string().min(1).max(4_000)

/**
 * Handlers whose work nothing of ours does or waits for: a state of the machine calls it (docs/native-calls.md). A document
 * chooses among what the operator named; it brings no ARN, no URL, no image and no command line.
 */
export const NATIVE_HANDLERS = {
  /** A function named under `functions` in the settings. Without a payload it gets the inputs by port. */
  lambda: z.strictObject({
    function: CalledNameSchema,
    /** JSON whose texts are templates; a text that is one placeholder becomes the value itself. */
    payload: json.optional(),
    /** JSONata over {inputs} instead. */
    payload_expression: program.optional(),
  }),
  /** A service integration of Step Functions. */
  aws: z.strictObject({
    call: z.string().max(160).regex(CALL_NAME, CALL_NAME_RULE),
    /** On what it works: a name under integrations.CALL.resources in the settings. */
    resource: CalledNameSchema.optional(),
    parameters: z.record(z.string(), json).optional(),
    parameters_expression: program.optional(),
    /** The module or program that stands in for it in the local place. */
    local: z.string().max(200).regex(STEP_PATH, './ and a path below the folder of sluice.yaml').optional(),
  }),
  /** A container named under `containers` in the settings. */
  container: z.strictObject({
    container: CalledNameSchema,
    /** Behind its command; templates. */
    command_args: z.array(z.string().max(2_000)).max(50).optional(),
  }),
} as const

export type NativeHandler = keyof typeof NATIVE_HANDLERS

export function isNativeHandler(handler: string | undefined): handler is NativeHandler {
  return handler !== undefined && Object.hasOwn(NATIVE_HANDLERS, handler)
}

type Config = Readonly<Record<string, unknown>>

/** Two ways to say the same, which do not go together: the JSON, and the expression. */
export const GIVEN_TWICE: Readonly<Partial<Record<NativeHandler, readonly [string, string]>>> = {
  lambda: ['payload', 'payload_expression'],
  aws: ['parameters', 'parameters_expression'],
}

/** The texts of a config that are templates. */
export function templatesOfCall(handler: NativeHandler, config: Config): readonly [key: string, value: unknown] {
  const key = handler === 'lambda' ? 'payload' : handler === 'aws' ? 'parameters' : 'command_args'
  return [key, config[key]]
}

/**
 * Where in what a call is given something looks like a secret: it would stand in the history of the machine. A name and its
 * value may be one together, of which the path of all is told.
 */
export function secretsGiven(
  given: Json | undefined,
  path: readonly (string | number)[],
): readonly (readonly (string | number)[])[] {
  const isSecret = (text: string) => redactSecrets(text) !== text
  const found = textsIn(given, path).flatMap(([text, at]) => (isSecret(text) ? [at] : []))
  return found.length === 0 && given !== undefined && isSecret(JSON.stringify(given)) ? [path] : found
}

/** The Resource of the state that makes the call. */
export function resourceOfCall(handler: NativeHandler, config: Config): string {
  const call = handler === 'lambda' ? 'lambda:invoke' : handler === 'container' ? 'ecs:runTask.sync' : config.call
  return `arn:aws:states:::${String(call)}`
}

/** What a call is of, as a place is asked what it knows of it. */
export type CallName =
  | { readonly handler: 'lambda'; readonly name: string }
  | { readonly handler: 'container'; readonly name: string }
  | {
      readonly handler: 'aws'
      readonly call: string
      readonly resource?: string | undefined
      readonly local?: string | undefined
    }

const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** One text for what a block calls: `lambda|resize`, `aws|sqs:sendMessage|tickets|./steps/queue.ts`. */
export function callNameOf(handler: NativeHandler, config: Config): string {
  if (handler === 'lambda') return `lambda|${text(config.function)}`
  if (handler === 'container') return `container|${text(config.container)}`
  return `aws|${text(config.call)}|${text(config.resource)}|${text(config.local)}`
}

/** Without what stands in for it in the local place: on AWS it is the same call. */
export function callOnAws(name: string): string {
  return name.startsWith('aws|') ? `${name.split('|').slice(0, 3).join('|')}|` : name
}

/** Undefined: it is the path of a step. */
export function readCallName(name: string): CallName | undefined {
  const [handler = '', first = '', resource = '', local = ''] = name.split('|')
  if (handler === 'lambda' || handler === 'container') return { handler, name: first }
  if (handler !== 'aws') return undefined
  return { handler, call: first, resource: resource || undefined, local: local || undefined }
}

/** Bytes of what a call is given, as JSON: a state may have 256 KiB in all. */
export const CALL_BYTES = 204_800
