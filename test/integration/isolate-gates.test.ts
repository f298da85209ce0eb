import { afterAll, describe, expect, test } from 'vitest'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { GATE_LIMITS } from '../../shared/gates/gate-module.ts'
import type { Isolated } from '../../shared/ports/isolate.ts'
import { atMost, firstDaily } from '../how-much.ts'

/** Modules of gates against the isolate that runs them: each attack ends its own call, in words, and nothing else. */
const isolate = createIsolate()
afterAll(() => isolate.close())

const scriptOf = (check: string) =>
  `'use strict';var sluice_gate={default:{sluice:'gate',params:{safeParse:(data)=>({success:true,data})},check({params,inputs,outputs,port}){${check}}}}`
const run = (program: string, tenant = 'main', limit: { readonly ms: number; readonly mb: number } = GATE_LIMITS) =>
  isolate.run('gate', { program, input: { params: {}, inputs: { a: 1 }, outputs: {} } }, limit, { tenant })
/** What never ends reaches any limit of its computing time. */
const SHORT = { ms: 200, mb: GATE_LIMITS.mb }
const judge = (check: string) => run(scriptOf(check))

/** Many checks as one module, so that one child judges all: which of them, says a parameter. */
function judgeOneOf(checks: readonly string[]): (check: string) => Promise<Isolated> {
  const program = `'use strict';const checks=[${checks.map((check) => `({port})=>{${check}}`).join(',')}];var sluice_gate={default:{sluice:'gate',params:{safeParse:(data)=>({success:true,data})},check:(call)=>checks[call.params.n](call)}}`
  return (check) => {
    const input = { params: { n: checks.indexOf(check) }, inputs: { a: 1 }, outputs: {} }
    return isolate.run('gate', { program, input }, GATE_LIMITS, { tenant: 'main' })
  }
}

const said = (answer: Isolated) => (answer.ok ? answer.value : `${answer.because}: ${answer.message}`)

const NONSENSE: readonly [string, string][] = [
  ['throw new Error("boom")', 'error: boom'],
  ['throw null', 'error: null'],
  ['throw { get message() { throw 1 } }', 'error: it failed without a message'],
  ['return Promise.reject(new Error("late"))', 'error: late'],
  ['return new Promise(() => {})', 'error: its promise never settles; a gate has nothing to wait for'],
  ['return 1', 'error: it must answer { passed, reason }, and answered number'],
  ['return { passed: "yes", reason: "x" }', 'error: its answer must say passed: true or false, and says string'],
  ['return { passed: true }', 'error: its answer must give a reason as a text, and gives undefined'],
  ['return { passed: true, reason: "" }', 'error: its answer must give a reason as a text, and gives an empty one'],
  [
    'return { passed: true, reason: "x".repeat(20000) }',
    'error: its reason has 20000 characters, at most 10000 are allowed',
  ],
  [
    'return { passed: true, reason: "x", evidence: "x".repeat(100000) }',
    'error: its evidence has 100002 characters of JSON, at most 65536 are allowed',
  ],
  [
    'return { passed: true, reason: "x", evidence: { a: undefined } }',
    'error: its evidence must be JSON, and holds a undefined',
  ],
  ['return { passed: true, reason: "x", evidence: NaN }', 'error: its evidence must be JSON, and holds NaN'],
  [
    'const e = {}; e.e = e; return { passed: true, reason: "x", evidence: e }',
    'error: Maximum call stack size exceeded',
  ],
  ['return (function f() { return f() })()', 'error: Maximum call stack size exceeded'],
  ['return Function("return 1")()', 'error: Code generation from strings disallowed for this context'],
  ['return eval("1")', 'error: Code generation from strings disallowed for this context'],
  [
    'return port.constructor.constructor("return process")()',
    'error: Code generation from strings disallowed for this context',
  ],
]

const CLOCKS = [
  'Date.now()',
  'new Date()',
  'Date()',
  'Math.random()',
  'new Intl.DateTimeFormat().format()',
  'new Intl.DateTimeFormat().formatToParts()',
  'new (class extends Date {})()',
].map((made) => `return { passed: true, reason: String(${made}) }`)

const DATES =
  'return { passed: new Date(0) instanceof Date, reason: [new Date(0), new Date(0).toLocaleString(), (1234.5).toLocaleString()].join(" ") }'

const NAMES =
  'process require fetch setTimeout setImmediate setInterval queueMicrotask Buffer console URL WebAssembly SharedArrayBuffer Atomics WeakRef FinalizationRegistry Worker crypto performance navigator global structuredClone'
const OUTSIDE = `return { passed: true, reason: "${NAMES}".split(" ").filter((name) => typeof globalThis[name] !== "undefined").join() + "." }`

const IMPORTS = `return import('node:fs').then(() => ({ passed: false, reason: 'loaded' }), (error) => {
  const chain = []
  for (let one = error; one !== null; one = Object.getPrototypeOf(one)) chain.push(one)
  const outer = [...chain.slice(1), error.constructor, error.constructor.constructor]
  let made
  try { made = error.constructor.constructor('return process')() } catch (cause) { made = cause.message }
  return { passed: outer.every((one) => Object.isFrozen(one)), reason: made }
})`
const judgeAmong = judgeOneOf([...NONSENSE.map(([check]) => check), ...CLOCKS, DATES, OUTSIDE, IMPORTS])

describe('a gate of a project', () => {
  test('judges what it is given', async () => {
    expect(await judge("return { passed: port('a') === 1 && port('b') === undefined, reason: 'a is 1' }")).toEqual({
      ok: true,
      value: { passed: true, reason: 'a is 1' },
    })
    expect(await judge("return Promise.resolve({ passed: false, reason: 'later', evidence: [1] })")).toEqual({
      ok: true,
      value: { passed: false, reason: 'later', evidence: [1] },
    })
  })

  test.each(NONSENSE)('that answers nonsense or breaks is an error in words: %s', async (check, words) => {
    expect(said(await judgeAmong(check))).toBe(words)
  })

  for (const { tags, rows } of firstDaily(2, [
    '(async () => { for (;;) await null })(); return { passed: true, reason: "x" }',
    'return /^(a+)+$/.test("a".repeat(60) + "b")',
    'for (;;);',
    'return { get passed() { for (;;); } }',
  ]))
    test.each(rows)('that never ends is ended: %s', { tags }, async (check) => {
      expect(said(await run(scriptOf(check), 'main', SHORT))).toBe(`time: it ran longer than ${SHORT.ms} ms`)
    })

  for (const { tags, rows } of firstDaily(1, [
    'const all = []; for (;;) all.push({})',
    'const all = []; for (;;) all.push(new Uint8Array(20_000_000).fill(1))',
  ]))
    test.each(rows)('that takes all memory is ended: %s', { tags }, async (check) => {
      // Whatever its time: it is the memory that ends it.
      expect(said(await run(scriptOf(check), 'main', { ms: 60_000, mb: GATE_LIMITS.mb }))).toBe(
        `memory: it needed more than ${GATE_LIMITS.mb} MB`,
      )
    })

  test('cannot make a reason of a gigabyte', async () => {
    const answer = await judge('return { passed: true, reason: "x".repeat(2 ** 29 - 30) + "x".repeat(2 ** 29 - 30) }')
    expect(answer.ok).toBe(false)
  })

  test.each(CLOCKS)('has no clock and no chance: %s', async (check) => {
    expect(said(await judgeAmong(check))).toMatch(
      /is not available in a gate: a gate answers the same for the same inputs/,
    )
  })

  test('tells a date it is given the same everywhere', async () => {
    expect(said(await judgeAmong(DATES))).toEqual({
      passed: true,
      reason: 'Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time) 1/1/1970, 12:00:00 AM 1,234.5',
    })
  })

  test('has nothing of Node and nothing of the web', async () => {
    expect(said(await judgeAmong(OUTSIDE))).toEqual({ passed: true, reason: '.' })
  })

  test('loads nothing, and what the refusal is made of is frozen', async () => {
    expect(said(await judgeAmong(IMPORTS))).toEqual({
      passed: true,
      reason: 'Code generation from strings disallowed for this context',
    })
  })

  test('leaves nothing behind for its next call: each has a world of its own', async () => {
    const check =
      'globalThis.n = (globalThis.n ?? 0) + 1; Object.prototype.left = 1; Array.prototype.map = undefined; JSON.parse = undefined; return { passed: true, reason: globalThis.n + " " + typeof [].filter }'
    for (let call = 0; call < 3; call += 1)
      expect(said(await judge(check))).toEqual({ passed: true, reason: '1 function' })
    expect(said(await judge('return { passed: ({}).left === undefined, reason: typeof [].map }'))).toEqual({
      passed: true,
      reason: 'function',
    })
  })

  test('patches what judges it only against itself', async () => {
    const check =
      'Object.prototype.passed = true; Object.prototype.reason = "polluted"; JSON.stringify = () => "{}"; Promise.prototype.then = undefined; return {}'
    const answer = await judge(check)
    expect(answer.ok).toBe(true)
    expect(said(await judge('return {}'))).toBe('error: its answer must say passed: true or false, and says undefined')
  })

  test('whose module breaks when it is loaded, or is none, says so', async () => {
    expect(said(await run('throw new Error("at once")'))).toBe('error: its module cannot be loaded: at once')
    expect(said(await run('var sluice_gate = { default: { check() {} } }'))).toBe(
      'error: its default export was not made with defineGate({ params, check })',
    )
    expect(said(await run('for (;;);', 'main', SHORT))).toBe(`time: it ran longer than ${SHORT.ms} ms`)
  })

  test('a thousand calls of one fit into the memory of its child', async () => {
    const program = scriptOf("return { passed: true, reason: 'x' }")
    for (let call = 0; call < atMost(1_000); call += 1) expect((await run(program)).ok).toBe(true)
  })

  test('of one tenant and of another are judged at the same time, and answer each their own', async () => {
    const check = "return { passed: true, reason: 'x' }"
    const tenants = Array.from({ length: atMost(20, 6) }, (_, at) => `tenant-${at % 4}`)
    const answers = await Promise.all(tenants.map((tenant) => run(scriptOf(check), tenant)))
    expect(answers.every(({ ok }) => ok)).toBe(true)
  })
})
