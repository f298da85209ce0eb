import { type Context, constants, createContext, Script } from 'node:vm'
import { ProgramProblem } from '../../shared/errors.ts'
import { GATE_GLOBAL, GATE_LIMITS } from '../../shared/gates/gate-module.ts'
import { memoizeLast } from '../../shared/text/memoize-last.ts'
import type { Job } from './isolate-messages.ts'

/**
 * Runs the module of a gate of a project (docs/adr/0072): `gate` judges, `gate_params` reads the parameters of a check.
 * Each job has a context of its own, with what the language has and nothing of Node, and only texts go in and out: what
 * one job leaves behind no other finds. JSON text of the answer; a module that fails is a ProgramProblem.
 */
export async function runGateJob({ kind, program, input }: Job): Promise<string> {
  if (typeof program !== 'string') throw new ProgramProblem('the module of a gate is a text')
  const context = createContext(constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } })
  const driver = driverIn(context)
  try {
    scriptOf(program).runInContext(context)
  } catch (cause) {
    throw new ProgramProblem(`its module cannot be loaded: ${driver.words(cause)}`)
  }
  driver.begin(kind, JSON.stringify(input))
  // A gate has no timers and waits for nothing outside: what has not settled after these turns never will.
  for (let turn = 0; turn < SETTLING_TURNS && driver.told() === undefined; turn += 1) await nextTurn()
  return answerOf(driver.told())
}

const SETTLING_TURNS = 3

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** `told` comes out of the context: nothing of it is believed but that it is a text. */
function answerOf(told: unknown): string {
  if (typeof told !== 'string') throw new ProgramProblem('its promise never settles; a gate has nothing to wait for')
  if (told.startsWith(FAILED)) throw new ProgramProblem(told.slice(FAILED.length))
  return told
}

/**
 * What refuses an `import()` is an error of Node's own, whose class `--frozen-intrinsics` does not know: all that is
 * reached from it is frozen too, once.
 */
async function freezeRefusals(): Promise<void> {
  const refused: unknown = await new Script("import('gate').catch((error) => error)").runInThisContext()
  for (let one = refused; typeof one === 'object' && one !== null; one = Object.getPrototypeOf(one)) {
    Object.freeze(one)
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(one))) {
      if (typeof value === 'function') Object.freeze(Object.freeze(value).prototype)
    }
  }
}

await freezeRefusals()

/** What a failure begins with; an answer is JSON and does not. */
const FAILED = 'failed: '

/** One module after the other is asked the same. */
const scriptOf = memoizeLast(4, (text) => new Script(text, { filename: 'gate' }))

/** The functions of the context that are called from outside; they throw nothing. */
interface Driver {
  begin(kind: string, input: string): void
  told(): unknown
  words(cause: unknown): string
}

function driverIn(context: Context): Driver {
  // What DRIVER answers, below.
  return DRIVER.runInContext(context) as Driver
}

/**
 * Runs in the context, before the module: it takes away what would answer otherwise the next time (clock, chance, shared
 * memory, the garbage collector), keeps the functions it needs itself, and answers those that are called from outside.
 */
const DRIVER = new Script(
  `(() => {
  'use strict'
  const { parse, stringify } = JSON
  const { keys, hasOwn, getPrototypeOf, defineProperty } = Object
  const { isArray } = Array
  const { isFinite, isInteger } = Number
  const { construct } = Reflect
  const ObjectPrototype = Object.prototype
  const asText = String
  const Problem = Error

  const PURE = 'a gate answers the same for the same inputs; hand the value in as an input'
  const refusal = (name) => function () { throw new Problem(name + ' is not available in a gate: ' + PURE) }
  const Clock = Date
  const noClock = refusal('the time')
  const PureDate = function Date(...given) {
    if (new.target === undefined || given.length === 0) noClock()
    return construct(Clock, given, new.target === PureDate ? Clock : new.target)
  }
  PureDate.prototype = Clock.prototype
  Clock.prototype.constructor = PureDate
  PureDate.parse = Clock.parse
  PureDate.UTC = Clock.UTC
  PureDate.now = noClock
  globalThis.Date = PureDate
  Math.random = refusal('Math.random()')
  const Formats = Intl.DateTimeFormat.prototype
  const { get: formatOf } = Object.getOwnPropertyDescriptor(Formats, 'format')
  const { formatToParts } = Formats
  defineProperty(Formats, 'format', {
    configurable: true,
    get() {
      const format = formatOf.call(this)
      return (date) => (date === undefined ? noClock() : format(date))
    },
  })
  Formats.formatToParts = function (date) {
    return date === undefined ? noClock() : formatToParts.call(this, date)
  }
  for (const name of ${JSON.stringify(['SharedArrayBuffer', 'Atomics', 'WebAssembly', 'WeakRef', 'FinalizationRegistry', 'Temporal', 'console'])}) {
    delete globalThis[name]
  }
  // Where a stack was made would tell of the machine.
  defineProperty(Error, 'stackTraceLimit', { get: () => 0, set: () => undefined })

  const words = (cause) => {
    try {
      const isError = typeof cause === 'object' && cause !== null && 'message' in cause
      const text = asText(isError ? cause.message : cause)
      return text.length > 1000 ? text.slice(0, 1000) : text
    } catch {
      return 'it failed without a message'
    }
  }

  const gateOf = () => {
    const gate = globalThis.${GATE_GLOBAL}?.default
    if (gate?.sluice === 'gate' && typeof gate.check === 'function' && typeof gate.params?.safeParse === 'function') return gate
    throw new Problem('its default export was not made with defineGate({ params, check })')
  }

  /** Throws unless it is data as JSON has it. */
  const requireJson = (value, what) => {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return
    if (typeof value === 'number' && isFinite(value)) return
    if (isArray(value)) {
      for (let at = 0; at < value.length; at += 1) requireJson(value[at], what)
      return
    }
    const parent = typeof value === 'object' ? getPrototypeOf(value) : undefined
    if (parent !== ObjectPrototype && parent !== null) throw new Problem(what + ' must be JSON, and holds ' + (typeof value === 'number' ? asText(value) : 'a ' + typeof value))
    for (const key of keys(value)) requireJson(value[key], what)
  }

  const jsonText = (value, what, most) => {
    requireJson(value, what)
    const text = stringify(value)
    if (text.length > most) throw new Problem(what + ' has ' + text.length + ' characters of JSON, at most ' + most + ' are allowed')
    return text
  }

  const shapeOf = (gate) => {
    const shape = gate.params.shape
    return typeof shape === 'object' && shape !== null ? keys(shape) : []
  }

  const readParams = (given) => {
    const gate = gateOf()
    const known = shapeOf(gate)
    const read = gate.params.safeParse(given)
    if (read.success !== true) {
      const issues = read.error.issues.slice(0, ${GATE_LIMITS.issues}).map(({ code, path, message, expected, keys: unknown, values }) => ({ code, path: path.map((part) => typeof part === 'number' ? part : asText(part)), message, expected, keys: unknown, values: isArray(values) ? values.map(asText) : undefined }))
      return stringify({ known, issues })
    }
    const params = read.data
    if (typeof params !== 'object' || params === null || isArray(params)) throw new Problem('its params are no z.strictObject({ .. })')
    const text = jsonText(params, 'what its params read', ${GATE_LIMITS.params_characters})
    const again = gate.params.safeParse(parse(text))
    if (again.success !== true || stringify(again.data) !== text) throw new Problem('its params read what they have read otherwise the second time; a transform has no place there')
    for (const name of ${JSON.stringify(['type', 'not', 'module'])}) {
      if (hasOwn(params, name)) throw new Problem('its params have "' + name + '", which every check has for itself')
    }
    if (gate.reads === undefined) return stringify({ known, params })
    const reads = gate.reads(params)
    const isList = isArray(reads) && reads.length <= ${GATE_LIMITS.ports} && reads.every((port) => typeof port === 'string')
    if (!isList) throw new Problem('its reads(params) must answer a list of at most ${GATE_LIMITS.ports} names of ports')
    return stringify({ known, params, reads: [...reads] })
  }

  const judge = async ({ params, inputs, outputs }) => {
    const gate = gateOf()
    const port = (name) => hasOwn(outputs, name) ? outputs[name] : hasOwn(inputs, name) ? inputs[name] : undefined
    const answer = await gate.check({ params, inputs, outputs, port })
    if (typeof answer !== 'object' || answer === null) throw new Problem('it must answer { passed, reason }, and answered ' + (answer === null ? 'null' : typeof answer))
    const { passed, reason, evidence } = answer
    if (typeof passed !== 'boolean') throw new Problem('its answer must say passed: true or false, and says ' + typeof passed)
    if (typeof reason !== 'string' || reason === '') throw new Problem('its answer must give a reason as a text, and gives ' + (reason === '' ? 'an empty one' : typeof reason))
    if (reason.length > ${GATE_LIMITS.reason_characters}) throw new Problem('its reason has ' + reason.length + ' characters, at most ${GATE_LIMITS.reason_characters} are allowed')
    if (evidence === undefined) return stringify({ passed, reason })
    return '{"passed":' + passed + ',"reason":' + stringify(reason) + ',"evidence":' + jsonText(evidence, 'its evidence', ${GATE_LIMITS.evidence_characters}) + '}'
  }

  let answer
  const work = async (kind, input) => {
    try {
      const text = kind === 'gate' ? await judge(parse(input)) : readParams(parse(input))
      answer = typeof text === 'string' ? text : '${FAILED}it gave no answer'
    } catch (cause) {
      answer = '${FAILED}' + words(cause)
    }
  }
  return {
    begin: (kind, input) => { work(kind, input) },
    told: () => answer,
    words,
  }
})()`,
  { filename: 'gate-driver' },
)
