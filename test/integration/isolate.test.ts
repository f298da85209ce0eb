import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { BUILTINS } from '../../functions/isolate/transform-engine.ts'
import { type Program, programProblem } from '../../shared/gates/compile-programs.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import { parseText } from '../../shared/gates/parse-json-csv.ts'
import type { Json } from '../../shared/text/json.ts'
import { atMost, firstDaily } from '../how-much.ts'

const isolate = createIsolate()
afterAll(() => isolate.close())

const MODULE = resolve(import.meta.dirname, '../../functions/isolate/isolate-pool.ts')
const FOREVER = '($f := function($x) { $f($x) }; $f(1))'

/** What ends is to end by itself, however busy the machine is. */
const PATIENT = { ms: 60_000, mb: 64 }

const transform = (program: Json, input: Json = {}, limit = PATIENT) =>
  isolate.run('transform', { program, input }, limit)
const underSchema = (program: Json, input: Json, limit = PATIENT) =>
  isolate.run('json_schema', { program, input }, limit)

describe('a transform', () => {
  test('is evaluated against its bindings', async () => {
    const answer = await transform('{"names": rows[age > 30].name, "n": $count(rows)}', {
      rows: [
        { name: 'Ada', age: 36 },
        { name: 'Bo', age: 3 },
      ],
    })
    expect(answer).toEqual({ ok: true, value: { names: 'Ada', n: 2 } })
  })

  test('may use the transform operator and members with the names of methods', async () => {
    expect(await transform('$ ~> |a|{"constructor": 1}|', { a: { b: 2 } })).toEqual({
      ok: true,
      value: { a: { b: 2, constructor: 1 } },
    })
  })

  test.each([
    ['does not parse', '1 +', /^S0207: Unexpected end of expression \(at character 3\)$/],
    ['is no text', { a: 1 }, /text of a JSONata expression/],
    ['has no value', 'nothing.here', /no value/],
    ['calls $eval', '$eval("1 + 1")', /\$eval is not available/],
    ['asks the clock', '$now()', /\$now is not available/],
    ['asks the clock in numbers', '$millis()', /\$millis is not available/],
    ['asks for chance', '$random()', /\$random is not available/],
    ['shuffles', '$shuffle([1, 2])', /\$shuffle is not available/],
    ['answers a function', '$sum', /holds a function/],
    ['hides a function in its answer', '{"a": [function($x) { $x }]}', /holds a function/],
    ['raises an error of its own', '$error("no rows")', /no rows/],
    ['multiplies text', '"a" * 2', /^T2001/],
  ])('that %s is an error in words', async (_, program, message) => {
    expect(await transform(program)).toEqual({ ok: false, because: 'error', message: expect.stringMatching(message) })
  })

  test.each([
    '$.constructor',
    '$.__proto__',
    '({}.constructor)("x")',
    '$lookup($, "constructor")',
    '$.__proto__.__defineGetter__("a", $.toString)',
    '$.__lookupGetter__("__proto__")',
  ])('finds no way out through inherited names: %s', async (program) => {
    expect(await transform(program, { a: {} })).toMatchObject({ ok: false, because: 'error' })
  })

  test.each([
    ['a built-in function', '$ ~> |$sum|{"_jsonata_function": false}|', '$sum([1, 2])', 3],
    ['what a built-in function does', '$ ~> |$sum|{"implementation": $count.implementation}|', '$sum([1, 2])', 3],
    ['the signature of one', '($ ~> |$sum|{"signature": 1}|; 1)', '$sum([1, 2])', 3],
    [
      'the frame all expressions share',
      '($f := function() { 1 }; $ ~> |$f|{"_jsonata_lambda": false}|; $ ~> |$f.environment.global|{"told": 7}|)',
      '($f := function() { 1 }; $ ~> |$f|{"_jsonata_lambda": false}|; $exists($f.environment.global.told))',
      false,
    ],
  ])('cannot change %s for the next one', async (_, attack, program, value) => {
    for (let child = 0; child < 4; child += 1) await transform(attack)
    expect(await transform(program)).toEqual({ ok: true, value })
  })

  test('every function of JSONata is among those that are frozen', () => {
    const source = readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8')
    const names = [...source.matchAll(/staticFrame\.bind\(["'](\w+)["']/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(60)
    expect(BUILTINS.split(' ')).toEqual(names)
  })

  test('that never ends is killed at its time, and the next one runs', async () => {
    const answer = await isolate.run('transform', { program: FOREVER, input: {} })
    expect(answer).toEqual({ ok: false, because: 'time', message: 'it ran longer than 1000 ms' })
    expect(await transform('1 + 1')).toEqual({ ok: true, value: 2 })
  })

  test('with a catastrophic regular expression is killed at its time', { tags: ['thorough'] }, async () => {
    const answer = await transform(`$match("${'a'.repeat(40)}c", /(a+)+b/)`, {}, { ms: 300, mb: 64 })
    expect(answer).toMatchObject({ ok: false, because: 'time' })
  })

  const eaters = [
    ['in one allocation larger than any margin', '[1..9999999]'],
    ['in many small steps', '($f := function($a) { $f($append($a, $a)) }; $f([1..1000]))'],
    ['by recursion', '($f := function($n) { 1 + $f($n + 1) }; $f(0))'],
  ] as const
  for (const { tags, rows } of firstDaily(1, eaters))
    test.each(rows)('that takes all memory %s fails alone', { tags }, async (_, program) => {
      const answer = await transform(program)
      expect(answer).toEqual({ ok: false, because: 'memory', message: 'it needed more than 64 MB' })
      expect(await transform('1 + 1')).toEqual({ ok: true, value: 2 })
    })

  test('with an answer over 10 MiB is refused in words', async () => {
    const answer = await transform('$pad("", 11000000, "x")', {}, { ms: 60_000, mb: 256 })
    expect(answer).toMatchObject({ ok: false, because: 'error', message: expect.stringMatching(/at most 10485760/) })
  })

  test('does not block the event loop of its caller', async () => {
    const stop = new AbortController()
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
      if (ticks === 6) stop.abort()
    }, 10)
    // Only the ticks end it.
    const caller = { tenant: 'main', signal: stop.signal }
    const answer = await isolate.run('transform', { program: FOREVER, input: {} }, { ms: 600_000, mb: 64 }, caller)
    clearInterval(timer)
    expect(answer).toMatchObject({ ok: false, because: 'stopped' })
  })
})

describe('a schema', () => {
  test('answers valid, or at most five errors with their paths', async () => {
    const schema = { type: 'array', items: { type: 'object', required: ['a'] } }
    expect(await underSchema(schema, [{ a: 1 }])).toEqual({ ok: true, value: { valid: true, errors: [] } })
    const answer = await underSchema(schema, [{}, {}, {}, {}, {}, {}])
    const errors = [0, 1, 2, 3, 4].map((i) => `/${i} must have required property 'a'`)
    expect(answer).toEqual({ ok: true, value: { valid: false, errors } })
  })

  test('with a catastrophic pattern is answered at once', async () => {
    const answer = await underSchema({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}b`)
    expect(answer).toMatchObject({ ok: true, value: { valid: false } })
  })

  test('that costs more than its time fails closed, as a verdict of status error', { tags: ['thorough'] }, async () => {
    const list = Array.from({ length: 200_000 }, (_, i) => ({ i }))
    const check = { type: 'json_schema', port: 'list', schema: { uniqueItems: true } }
    const use = { name: 'unique', on_fail: 'retry', check } as const
    const facts = { inputs: {}, outputs: { list }, measured: { cost_usd: null, latency_ms: null } }
    const verdict = await judgeGate(use, facts, { isolate }, () => performance.now())
    expect(verdict).toMatchObject({ passed: false, status: 'error' })
    expect(verdict.reason).toBe('cannot check the schema: it ran longer than 1000 ms')
  })

  test.each<[string, Json, RegExp]>([
    ['an unknown keyword', { typ: 'string' }, /unknown keyword/],
    ['a remote $ref', { $ref: 'https://example.com/s' }, /not local/],
    ['no object', 'string', /is an object/],
  ])('with %s is an error in words', async (_, schema, message) => {
    expect(await underSchema(schema, 'x')).toEqual({
      ok: false,
      because: 'error',
      message: expect.stringMatching(message),
    })
  })

  test('of 300,000 wrong items answers with the first, in the memory it has', async () => {
    const answer = await underSchema(
      { type: 'array', items: { type: 'string' } },
      Array.from({ length: 300_000 }, (_, i) => i),
    )
    expect(answer).toEqual({ ok: true, value: { valid: false, errors: ['/0 must be string'] } })
  })
})

describe('what is dear for whoever else waits', () => {
  test('schemas and patterns are compiled there, with the words they have here', async () => {
    const programs: Json[] = [
      { path: 'schema', schema: { type: 'strin' } },
      { path: 'schema', schema: { type: 'string' } },
      { path: 'pattern', pattern: 'a(?=b)' },
      { path: 'pattern', pattern: 'a+', flags: 'i' },
    ]
    const answers = await Promise.all(programs.map((program) => isolate.run('compile', { program, input: null })))
    const here = programs.map((program) => programProblem(program as unknown as Program) ?? null)
    expect(answers).toEqual(here.map((value) => ({ ok: true, value })))
    expect(here.map((problem) => problem !== null)).toEqual([true, false, true, false])
  })

  for (const { tags, rows } of firstDaily<[string, 'json' | 'csv', string, object]>(2, [
    ['JSON', 'json', `[${'[],'.repeat(600_000)}[]]`, {}],
    [
      'no CSV',
      'csv',
      `a,b\n${'1,2\n'.repeat(400_000)}3\n`,
      { problem: 'line 400002 has 1 fields, the first line has 2' },
    ],
    ['no JSON', 'json', `[${'[],'.repeat(600_000)}]`, { problem: expect.stringMatching(/JSON/) }],
    ['CSV', 'csv', `a,b\n${'1,2\n'.repeat(400_000)}`, { header: ['a', 'b'], rows: 400_000 }],
  ]))
    test.each(rows)('a text over 1 MiB is read there: %s', { tags }, async (_, format, text, answer) => {
      expect(await parseText(format, text, isolate)).toMatchObject(answer)
    })

  test('a table is described there', async () => {
    const rows = atMost(300_000)
    const table = `a,b\n${'1,2\n'.repeat(rows)}`
    const answer = await isolate.run('describe', { program: {}, input: table }, { ms: 30_000, mb: 512 })
    expect(answer).toMatchObject({ ok: true, value: { rows, columns: { a: { mean: 1 } } } })
    const none = await isolate.run('describe', { program: {}, input: 7 }, { ms: 30_000, mb: 512 })
    expect(none).toEqual({ ok: true, value: { not_a_table: 'it is number' } })
  })

  test('a transform does not answer what nobody may parse', { tags: ['thorough'] }, async () => {
    const answer = await transform('[1..600000]', {}, { ms: 20_000, mb: 256 })
    expect(answer).toMatchObject({
      ok: false,
      because: 'error',
      message: expect.stringMatching(/more than 550000 values/),
    })
  })
})

describe('the pool', () => {
  test('runs many at once and gives each its own answer', { tags: ['thorough'] }, async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => transform('n * 2', { n })))
    expect(answers).toEqual(answers.map((_, n) => ({ ok: true, value: n * 2 })))
  })

  test('a bomb among them fails alone', { tags: ['thorough'] }, async () => {
    const programs = ['1', FOREVER, '2', '[1..9999999]', '3', '4']
    const answers = await Promise.all(
      programs.map((program) => transform(program, {}, { ms: program === FOREVER ? 300 : 60_000, mb: 64 })),
    )
    expect(answers.map((answer) => (answer.ok ? answer.value : answer.because))).toEqual([1, 'time', 2, 'memory', 3, 4])
  })

  test('what cannot be sent is an answer, not a throw', async () => {
    const input = { f: () => 1 } as unknown as Json
    expect(await transform('$count(f)', input)).toMatchObject({ ok: false, because: 'error' })
    expect(await transform('1')).toEqual({ ok: true, value: 1 })
  })

  test('closed, it answers that it is', async () => {
    const closed = createIsolate()
    expect(await closed.run('transform', { program: '1', input: {} })).toEqual({ ok: true, value: 1 })
    await closed.close()
    expect(await closed.run('transform', { program: '1', input: {} })).toMatchObject({ ok: false, because: 'error' })
  })
})

describe('the process around it', () => {
  const code = (program: string) =>
    `import { createIsolate } from ${JSON.stringify(MODULE)}
     const isolate = createIsolate()
     console.log(JSON.stringify(await isolate.run('transform', { program: ${JSON.stringify(program)}, input: {} }, { ms: 60000, mb: 64 })))`
  const args = (text: string) => ['--input-type=module', '--eval', text]

  test('ends by itself while warm children are idle', () => {
    const ended = spawnSync(process.execPath, args(code('1 + 1')), { encoding: 'utf8', timeout: 90_000 })
    expect([ended.status, ended.stdout.trim()]).toEqual([0, '{"ok":true,"value":2}'])
  })

  test.runIf(process.platform === 'linux')('keeps one child for what is asked one after the other', () => {
    const program = `import { createIsolate } from ${JSON.stringify(MODULE)}
      import { readFileSync } from 'node:fs'
      const isolate = createIsolate()
      const seen = new Set()
      for (let n = 0; n < 100; n += 1) {
        await isolate.run('transform', { program: '1', input: {} }, { ms: 60000, mb: 64 })
        const pids = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ')
        for (const pid of pids) seen.add(pid)
      }
      console.log(seen.size)`
    expect(spawnSync(process.execPath, args(program), { encoding: 'utf8' }).stdout.trim()).toBe('1')
  })

  test.runIf(process.platform === 'linux')(
    'shows its children no environment, and a kill -9 leaves none running',
    { tags: ['thorough'] },
    async () => {
      const parent = spawn(process.execPath, args(code(FOREVER)), { stdio: 'ignore', env: { CANARY: 'secret-canary' } })
      const child = await until(() => childrenOf(parent.pid ?? 0)[0])
      // Well inside the program: its own event loop will not see the parent go.
      await until(() => (cpuTicks(child) ?? 0) > 60 || undefined)
      expect(readFileSync(`/proc/${child}/environ`, 'utf8')).not.toContain('secret-canary')
      parent.kill('SIGKILL')
      await once(parent, 'exit')
      await until(() => (cpuTicks(child) === undefined ? true : undefined))
    },
  )
})

function childrenOf(pid: number): readonly number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return list === '' ? [] : list.split(' ').map(Number)
}

/** Time a process has computed, in hundredths of a second; undefined when it is gone (or waits to be reaped). */
function cpuTicks(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields[0] === 'Z' ? undefined : Number(fields[11])
  } catch {
    return undefined
  }
}

/** Polls until there is an answer; the test's own time limit ends it. */
async function until<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const seen = look()
    if (seen !== undefined) return seen
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
