import type { StartRunBody } from '../../shared/api/start-run-route.ts'
import { type BypassedQuestion, bypassedQuestions, undeclaredKeys } from '../../shared/approvals/bypassed-questions.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { fitsPort, inputDefaults, inputNames, missingInputs } from '../../shared/runs/block-inputs.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import { subjectsOf } from '../../shared/runs/subject.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { freezeGoal } from '../record/freeze-goal.ts'
import type { RunOrder } from './create-run.ts'
import { turnOf } from './key-turns.ts'

/**
 * What a run begins with: its first context, what it is judged by, whose targets may be among those values, its queue, and
 * whose data it holds.
 */
export async function prepareStartValues(
  world: Pick<World, 'objects' | 'isolate'>,
  tenant: string,
  dag: Dag,
  given: StartRunBody,
  earlier?: Readonly<Record<string, Json>>,
  from?: ValuesFrom,
): Promise<Pick<RunOrder, 'context' | 'goal' | 'turn' | 'subjects'>> {
  const context = checkStartValues(dag, given, earlier, from)
  const goal = await freezeGoal(world, tenant, { dag, given: given.goal_contract, values: context })
  const turn = await turnOf(world, tenant, dag, context)
  // A child run goes with the run above it.
  const subjects = from === 'parent' ? [] : subjectsOf(dag.subjects ?? [], context, given.subject)
  return {
    context,
    subjects,
    ...(goal === undefined ? {} : { goal }),
    ...(turn === undefined ? {} : { turn }),
  }
}

const MAX_VALUES_BYTES = 204_800

/**
 * The values a run starts with, checked against its document, all problems at once: declared inputs typed, required
 * ones present, overrides naming real ports, 200 KiB together. Answers the first context: that of the run it continues
 * (`earlier`) under context keys under inputs. What could take a question to people away is refused (`from`).
 */
export function checkStartValues(
  dag: Dag,
  body: StartRunBody,
  earlier: Readonly<Record<string, Json>> = {},
  from: ValuesFrom = {},
): Readonly<Record<string, Json>> {
  const inputs = body.inputs ?? {}
  const context = { ...inputDefaults(dag), ...earlier, ...body.context, ...inputs }
  const bytes = Buffer.byteLength(JSON.stringify({ context, overrides: body.overrides ?? {} }))
  if (bytes > MAX_VALUES_BYTES) {
    const message = `Cannot start DAG "${dag.name}": its inputs, context and overrides have ${bytes} bytes, at most ${MAX_VALUES_BYTES} are allowed. Put large values into files.`
    throw new Fault('InvalidInput', 'inputs_too_large', message, { status: 413 })
  }
  const issues = [
    ...taskIssues(dag, body),
    ...inputIssues(dag, inputs),
    ...missingIssues(dag, context, body),
    ...overrideIssues(dag, body),
  ]
  if (issues.length === 0) {
    if (from !== 'parent') refuseUnasked(dag, body, earlier, from)
    return context
  }
  const names = issues.slice(0, 20).map(({ path }) => path)
  const words = issues.length === 1 ? issues[0]?.message : `${issues.length} values are wrong: ${names.join(', ')}.`
  throw new Fault('InvalidInput', 'invalid_inputs', `Cannot start DAG "${dag.name}": ${words}`, {
    issues: issues.slice(0, 20),
  })
}

/** Its blocks move the task, past gates and a review: nobody begins behind them. */
function taskIssues({ task_gates }: Dag, { context = {}, inputs = {} }: StartRunBody): Issue[] {
  const given = [
    ...Object.keys(context).map((key) => `context.${key}`),
    ...Object.keys(inputs).map((key) => `inputs.${key}`),
  ]
  if (task_gates === undefined) return []
  const hint = 'Leave it out; a run that continues another one has its task.'
  return given
    .filter((path) => path === 'context.task' || path === 'inputs.task')
    .map((path) => ({ path, message: 'The task of this DAG is moved by its blocks alone.', hint }))
}

function inputIssues(dag: Dag, inputs: Readonly<Record<string, Json>>): Issue[] {
  const known = inputNames(dag)
  const hint = known.length === 0 ? 'It reads none: use context for free values.' : `It reads ${known.join(', ')}.`
  return Object.entries(inputs).flatMap(([name, value]) => {
    const path = `inputs.${name}`
    if (!known.includes(name)) return [{ path, message: `"${name}" is not an input of this DAG.`, hint }]
    const type = Object.hasOwn(dag.inputs, name) ? dag.inputs[name]?.type : undefined
    if (type === undefined || fitsPort(type, value)) return []
    return [{ path, message: `Input "${name}" must be ${type}, got ${Array.isArray(value) ? 'array' : typeof value}.` }]
  })
}

function missingIssues(dag: Dag, context: Readonly<Record<string, Json>>, { overrides }: StartRunBody): Issue[] {
  return missingInputs(dag, context, overrides).map((name) => ({
    path: `inputs.${name}`,
    message: `Required input "${name}" has no value.`,
    hint: `Give it: --input ${name}=..., or "inputs": {"${name}": ...}.`,
  }))
}

function overrideIssues(dag: Dag, { overrides = {} }: StartRunBody): Issue[] {
  return Object.entries(overrides).flatMap(([key, value]) => {
    const [id, name = ''] = key.split('.')
    const block = dag.blocks.find((candidate) => candidate.id === id)
    const port = block !== undefined && Object.hasOwn(block.inputs, name) ? block.inputs[name] : undefined
    const path = `overrides["${key}"]`
    if (port === undefined) return [{ path, message: `Override "${key}" names no input port of this DAG.` }]
    return fitsPort(port.type, value)
      ? []
      : [{ path, message: `Override "${key}" must be ${port.type}, got ${typeof value}.` }]
  })
}

/** Whose values they are: those of a child run are its parent's document's; else what is known of the run's own children. */
type ValuesFrom =
  | 'parent'
  | {
      readonly children?: Meta['children'] | undefined
      /** Keys of `earlier` that no person set. */
      readonly made?: readonly string[]
    }

/**
 * An override, or a context key the document does not declare, may change what people are shown, and is shown to them; it
 * may not take their question away and let blocks run that the document keeps behind it. Faults InvalidInput
 * override_skips_question, context_skips_question (422).
 */
function refuseUnasked(
  dag: Dag,
  { overrides = {}, context = {}, inputs = {} }: StartRunBody,
  earlier: Readonly<Record<string, Json>>,
  { children, made = [] }: Exclude<ValuesFrom, 'parent'>,
): void {
  const given = { ...context, ...inputs }
  const carried = Object.keys(earlier).filter((key) => !(made.includes(key) || Object.hasOwn(given, key)))
  const keys = undeclaredKeys(dag, [...Object.keys(given), ...carried])
  const set = [...Object.keys(overrides).map((override) => ({ override })), ...keys.map((key) => ({ key }))]
  const unasked = bypassedQuestions(dag, { overrides, ...(children && { children }) }, set)
  if (unasked.length > 0) throw skippedQuestionFault(`Cannot start DAG "${dag.name}"`, unasked)
}

/** Fault InvalidInput (422) that names what would let a block run although nobody was asked. */
export function skippedQuestionFault(what: string, unasked: readonly BypassedQuestion[]): Fault {
  const [first] = unasked
  const issues = unasked.slice(0, 20).map(({ override, key, asking, runs }) => ({
    path: override === undefined ? `context.${key}` : `overrides["${override}"]`,
    message: `It decides whether block "${asking}" asks people, and block "${runs}" may run when it does not ask.`,
    hint: `Leave it out, or start a document of your own in which block "${runs}" waits for "${asking}" to succeed.`,
  }))
  const { override, key, asking, runs } = first ?? { asking: '', runs: '' }
  const name = override === undefined ? `context key "${key}"` : `override "${override}"`
  const message = `${what}: ${name} reaches block "${asking}", which asks people, or what is behind it, and block "${runs}" may run when nobody is asked: nobody would see it. Leave it out, or start a document of your own.`
  const code = override === undefined ? 'context_skips_question' : 'override_skips_question'
  return new Fault('InvalidInput', code, message, { status: 422, issues })
}
