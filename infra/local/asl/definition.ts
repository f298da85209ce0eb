import type { Machine as Definition, State } from '../../../shared/compile/asl.ts'
import { Fault } from '../../../shared/errors.ts'
import { compileField } from './expression.ts'
import { EXECUTE, INVOKE, INVOKE_AND_WAIT, isNative } from './task.ts'

/**
 * Reads machine text and refuses what this interpreter would not run as Step Functions does, instead of ignoring it.
 *
 * Not done here, though Step Functions has it: JSONPath, variables (Assign), defaults of Retry's numbers but BackoffRate, expressions in
 * HeartbeatSeconds, state-level Output of a Choice, of other resources than the two lambda:invoke and startExecution.sync:2 anything but what the place makes of the call, further Arguments
 * of these, distributed Map, tolerated failures, States.BranchFailed as a name for ErrorEquals, redrive, the
 * history API, versions and aliases, the 1 MB limit of a definition, and of AWS's
 * JSONata functions all but $parse. History events are counted close to, not exactly like, AWS. Arguments and Items
 * of a state that was under way at a kill are evaluated again. A time-out aborts the invocation's signal (on AWS the
 * function runs on unaware).
 */
export function readDefinition(text: string): Definition {
  const definition = parse(text)
  if (!isRecord(definition) || definition.QueryLanguage !== 'JSONata') {
    throw refused('the machine', 'it must be an object with QueryLanguage "JSONata"')
  }
  checkMachine(definition, 'the machine')
  checkNames(definition)
  // checkMachine has just looked at every field of the type.
  return definition as unknown as Definition
}

interface Fields {
  readonly needs: readonly string[]
  readonly may: readonly string[]
}

const GUARDS = ['Output', 'Retry', 'Catch']

/** Next or End are asked for wherever they are listed. */
const FIELDS: { readonly [T in State['Type']]: Fields } = {
  Task: { needs: ['Resource', 'Arguments'], may: ['Next', 'End', 'TimeoutSeconds', 'HeartbeatSeconds', ...GUARDS] },
  Parallel: { needs: ['Branches'], may: ['Next', 'End', 'Arguments', ...GUARDS] },
  Map: { needs: ['ItemProcessor'], may: ['Next', 'End', 'Items', 'ItemSelector', 'MaxConcurrency', ...GUARDS] },
  Pass: { needs: [], may: ['Next', 'End', 'Output'] },
  Wait: { needs: [], may: ['Next', 'End', 'Seconds', 'Timestamp', 'Output'] },
  Choice: { needs: ['Choices'], may: ['Default'] },
  Succeed: { needs: [], may: ['Output'] },
  Fail: { needs: [], may: ['Error', 'Cause'] },
}

const RULES: Readonly<Record<string, Fields>> = {
  Choices: { needs: ['Condition', 'Next'], may: ['Output', 'Comment'] },
  Catch: { needs: ['ErrorEquals', 'Next'], may: ['Output', 'Comment'] },
  Retry: {
    needs: ['ErrorEquals', 'MaxAttempts'],
    may: ['IntervalSeconds', 'BackoffRate', 'MaxDelaySeconds', 'JitterStrategy', 'Comment'],
  },
}

const MACHINE = ['Comment', 'QueryLanguage', 'StartAt', 'TimeoutSeconds', 'States', 'ProcessorConfig']

type Loose = Readonly<Record<string, unknown>>

function checkMachine(machine: Loose, where: string): void {
  for (const key of Object.keys(machine)) if (!MACHINE.includes(key)) throw refused(where, `field "${key}" is unknown`)
  const { States, StartAt } = machine
  if (!isRecord(States)) throw refused(where, 'it has no States')
  checkTarget(StartAt, States, `StartAt of ${where}`)
  for (const [name, state] of Object.entries(States)) checkState(name, state, States)
}

/** A name is unique in the whole machine, whatever branch it is in, as Step Functions demands. */
function checkNames(definition: Loose): void {
  const seen = new Set<string>()
  const open: Loose[] = [definition]
  for (let machine = open.pop(); machine !== undefined; machine = open.pop()) {
    for (const [name, state] of Object.entries(machine.States as Readonly<Record<string, Loose>>)) {
      if (seen.has(name)) throw refused(`state "${name}"`, 'there are two of that name')
      seen.add(name)
      open.push(...list(state.Branches), ...(isRecord(state.ItemProcessor) ? [state.ItemProcessor] : []))
    }
  }
}

function checkState(name: string, state: unknown, states: Loose): void {
  const where = `state "${name}"`
  if (!isRecord(state) || !isType(state.Type)) {
    throw refused(where, `its Type must be one of ${Object.keys(FIELDS).join(', ')}`)
  }
  const fields = FIELDS[state.Type]
  const missing = fields.needs.find((key) => !(key in state))
  if (missing !== undefined) throw refused(where, `it needs ${missing}`)
  const known = ['Type', 'Comment', ...fields.needs, ...fields.may]
  const unknown = Object.keys(state).find((key) => !known.includes(key))
  if (unknown !== undefined) throw refused(where, `field "${unknown}" is not supported`)
  if (fields.may.includes('Next') && state.End !== true) checkTarget(state.Next, states, `Next of ${where}`)
  for (const [key, shape] of Object.entries(RULES)) if (key in state) checkRules(state[key], shape, states, where)
  if ('Default' in state) checkTarget(state.Default, states, `Default of ${where}`)
  checkByType(state, where)
  checkExpressions(state, where)
}

function isType(type: unknown): type is State['Type'] {
  return typeof type === 'string' && Object.hasOwn(FIELDS, type)
}

/** The rules of a Choice, Retry or Catch: their fields, and where they lead. */
function checkRules(rules: unknown, shape: Fields, states: Loose, where: string): void {
  if (!Array.isArray(rules) || rules.length === 0) throw refused(where, 'Choices, Retry and Catch are lists of rules')
  for (const rule of rules) {
    const missing = shape.needs.find((key) => !isRecord(rule) || !(key in rule))
    if (missing !== undefined) throw refused(where, `each rule needs ${missing}`)
    const unknown = Object.keys(rule).find((key) => !shape.needs.includes(key) && !shape.may.includes(key))
    if (unknown !== undefined) throw refused(where, `field "${unknown}" of a rule is not supported`)
    if (shape.needs.includes('Next')) checkTarget(rule.Next, states, `Next of ${where}`)
  }
}

function checkByType(state: Loose, where: string): void {
  if (state.Type === 'Task') checkTask(state, where)
  if (state.Type === 'Wait' && 'Seconds' in state === 'Timestamp' in state) {
    throw refused(where, 'it needs either Seconds or Timestamp')
  }
  if (state.Type === 'Parallel' && list(state.Branches).length === 0) throw refused(where, 'it needs Branches')
  for (const [index, branch] of list(state.Branches).entries()) checkMachine(branch, `branch ${index} of ${where}`)
  if (isRecord(state.ItemProcessor)) checkMachine(state.ItemProcessor, `ItemProcessor of ${where}`)
}

function checkTask(state: Loose, where: string): void {
  const { Resource, Arguments } = state
  checkSeconds(state, 'TimeoutSeconds', where)
  checkSeconds(state, 'HeartbeatSeconds', where)
  if (isNative(state) && typeof Resource === 'string' && NATIVE_RESOURCE.test(Resource)) return
  const fields = typeof Resource === 'string' && Object.hasOwn(ARGUMENTS, Resource) ? ARGUMENTS[Resource] : undefined
  if (fields === undefined) throw refused(where, `Resource must be ${Object.keys(ARGUMENTS).join(' or ')}`)
  if ('HeartbeatSeconds' in state && Resource !== INVOKE_AND_WAIT) {
    throw refused(where, 'HeartbeatSeconds is for who waits for a token')
  }
  const extra = isRecord(Arguments) && Object.keys(Arguments).find((key) => !fields.includes(key))
  if (extra) throw refused(where, `Arguments may have ${fields.join(', ')}, not "${extra}"`)
}

/** Every call of AWS but those of ours; none waits for a token. */
const NATIVE_RESOURCE = /^arn:aws:states:::(?:aws-sdk:)?[a-z0-9-]+:[A-Za-z0-9]+(?:\.sync(?::2)?)?$/

/** A time-out may be known by the run alone; a heartbeat is the machine's own. */
function checkSeconds(state: Loose, key: 'TimeoutSeconds' | 'HeartbeatSeconds', where: string): void {
  const given = state[key]
  const isExpression = key === 'TimeoutSeconds' && typeof given === 'string' && /^\{%.*%\}$/.test(given)
  if (given === undefined || isExpression || (Number.isInteger(given) && Number(given) > 0)) return
  throw refused(where, `${key} must be a whole number above 0${key === 'TimeoutSeconds' ? ', or an expression' : ''}`)
}

const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  [INVOKE]: ['FunctionName', 'Payload'],
  [INVOKE_AND_WAIT]: ['FunctionName', 'Payload'],
  [EXECUTE]: ['StateMachineArn', 'Name', 'Input'],
}

/** Compiles each text once, now; a bad one is found before anything runs. */
function checkExpressions(state: Loose, where: string): void {
  const rules = [...list(state.Choices), ...list(state.Catch)]
  for (const owner of [state, ...rules]) {
    for (const key of TEMPLATES) if (key in owner) checkField(owner, key, where)
  }
}

function checkField(owner: Loose, key: string, where: string): void {
  try {
    compileField(owner, key)
  } catch (cause) {
    const seen = isRecord(cause) ? String(cause.message) : String(cause)
    throw refused(where, `${JSON.stringify(owner[key])} is not JSONata (${seen})`, cause)
  }
}

const TEMPLATES = [
  'Arguments',
  'Output',
  'Items',
  'ItemSelector',
  'Seconds',
  'TimeoutSeconds',
  'Timestamp',
  'Condition',
  'Error',
  'Cause',
]

function checkTarget(target: unknown, states: Loose, where: string): void {
  if (typeof target === 'string' && Object.hasOwn(states, target)) return
  throw refused(where, `it names ${JSON.stringify(target)}, which is not a state beside it`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw refused('the machine', 'its text is not JSON', cause)
  }
}

function list(value: unknown): readonly Loose[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function isRecord(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refused(where: string, why: string, cause?: unknown): Fault {
  const message = `Cannot take this state machine: ${where}: ${why}. The local interpreter runs the part of JSONata ASL that Sluice emits; compile the DAG again.`
  return new Fault('InvalidInput', 'machine_not_supported', message, { cause })
}
