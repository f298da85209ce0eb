import { describe, expect, test } from 'vitest'
import { findHandler } from '../../../functions/attempts/handlers/registry.ts'
import { HANDLERS } from '../../../shared/dag/handlers.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Isolated } from '../../../shared/ports/isolate.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inProcessIsolate } from '../gates/in-process-isolate.ts'
import { handlerCall } from './call.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const isolate = (answer: Isolated) => ({ isolate: { run: async () => answer } })
const file = (content: string | Uint8Array) => ({
  inputs: { read: async () => (typeof content === 'string' ? bytes(content) : content) },
})

test('every handler a document may name has code, and no other name has', () => {
  for (const name of Object.keys(HANDLERS)) expect(findHandler(name).run).toBeTypeOf('function')
  expect(() => findHandler('toString')).toThrow(/Cannot run handler "toString".*There are pass, transform/)
})

test.each(Object.keys(HANDLERS))(
  '%s stops when the attempt was aborted, and refuses a config it does not know',
  async (name) => {
    if (name === 'pass') return
    const aborted = handlerCall({ signal: AbortSignal.abort(new Error('stopped')) })
    await expect(findHandler(name).run(aborted.call)).rejects.toThrow('stopped')
    const wrong = handlerCall({ config: { nonsense: true }, inputs: { a: 1 }, ports: { x: 'json' } })
    await expect(findHandler(name).run(wrong.call)).rejects.toMatchObject({
      name: 'InvalidInput',
      code: 'handler_config',
      message: expect.stringMatching(/^Cannot run block "work" \(.*Mend deterministic\.config\.$/),
    })
  },
)

test('pass answers the inputs its outputs name and leaves out the others', async () => {
  const { call } = handlerCall({
    inputs: { a: 1, b: null, c: 'x' },
    ports: { a: 'number', b: 'json', toString: 'json' as const },
  })
  expect(await findHandler('pass').run(call)).toEqual({ a: 1, b: null })
})

describe('transform', () => {
  const run = (answer: Isolated, ports: Record<string, 'json'>) =>
    findHandler('transform').run(handlerCall({ config: { expression: 'x' }, ports, world: isolate(answer) }).call)

  test('gives a single output the whole answer and several their members', async () => {
    expect(await run({ ok: true, value: { a: 1 } }, { only: 'json' })).toEqual({ only: { a: 1 } })
    expect(await run({ ok: true, value: { a: 1, c: 3 } }, { a: 'json', b: 'json' })).toEqual({ a: 1 })
  })

  test('hands the program exactly {inputs}', async () => {
    const asked: unknown[] = []
    const world = {
      isolate: {
        run: async (...all: unknown[]) => {
          asked.push(...all)
          return { ok: true, value: 1 } as const
        },
      },
    }
    const { call } = handlerCall({ config: { expression: 'inputs.a' }, inputs: { a: 1 }, ports: { x: 'json' }, world })
    await findHandler('transform').run(call)
    expect(asked.slice(0, 2)).toEqual(['transform', { program: 'inputs.a', input: { inputs: { a: 1 } } }])
    expect(asked.at(-1)).toEqual({ tenant: call.run.tenant, signal: call.signal })
  })

  test.each<[string, Isolated, Json]>([
    [
      'the program fails',
      { ok: false, because: 'error', message: 'no such function' },
      'stopped (error): no such function',
    ],
    ['it runs over time', { ok: false, because: 'time', message: 'over 1000 ms' }, 'stopped (time): over 1000 ms'],
    ['several outputs get a list', { ok: true, value: [1] }, 'answers a list, but it has outputs a, b'],
    ['several outputs get nothing', { ok: true, value: null }, 'answers nothing, but it has outputs a, b'],
  ])('is a fault of the document when %s', async (_, answer, said) => {
    const fault = await run(answer, { a: 'json', b: 'json' }).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(Fault)
    expect(fault).toMatchObject({
      name: 'InvalidInput',
      code: 'transform_failed',
      message: expect.stringContaining(String(said)),
    })
  })
})

describe('read-input', () => {
  const read = (given: Parameters<typeof handlerCall>[0]) => findHandler('read-input').run(handlerCall(given).call)
  const config = { path: 'a.json' }

  test('reads text, JSON or a stored file, as its output asks', async () => {
    expect(await read({ config, ports: { x: 'string' }, world: file('\uFEFF[1]') })).toEqual({ x: '[1]' })
    expect(await read({ config, ports: { x: 'json' }, world: file('[1]') })).toEqual({ x: [1] })
    const { call, seen } = handlerCall({ config, ports: { x: 'file' }, world: file('[1]') })
    const { x } = await findHandler('read-input').run(call)
    expect(seen.objects.get(String(x))).toEqual(bytes('[1]'))
  })

  test('reads the object ref in input "file"', async () => {
    const { call, seen } = handlerCall({
      inputs: { file: `objstore://main/${'a'.repeat(64)}` },
      ports: { x: 'string' },
    })
    seen.objects.set(`objstore://main/${'a'.repeat(64)}`, bytes('hello'))
    expect(await findHandler('read-input').run(call)).toEqual({ x: 'hello' })
  })

  test.each([
    ['neither path nor file', { ports: { x: 'json' } }, 'input_source'],
    ['a file that is no ref, path or not', { config, inputs: { file: 'x' }, ports: { x: 'json' } }, 'input_source'],
    ['a file that is no ref', { inputs: { file: '/etc/passwd' }, ports: { x: 'json' } }, 'input_source'],
    ['no output', { config }, 'input_ports'],
    ['two outputs', { config, ports: { x: 'json', y: 'json' } }, 'input_ports'],
    ['a number to read into', { config, ports: { x: 'number' }, world: file('1') }, 'input_ports'],
    ['bytes that are no text', { config, ports: { x: 'string' }, world: file(Uint8Array.of(0xff)) }, 'input_not_text'],
    ['text that is no JSON', { config, ports: { x: 'json' }, world: file('{') }, 'input_not_json'],
    ['65 levels', { config, ports: { x: 'json' }, world: file('['.repeat(65)) }, 'json_too_deep'],
    ['too many values', { config, ports: { x: 'json' }, world: file('1,'.repeat(600_000)) }, 'json_too_dense'],
  ] as const)('refuses %s, naming the block', async (_, given, code) => {
    const message = expect.stringMatching(/^Cannot run block "work" \(read-input\): /)
    await expect(read(given)).rejects.toMatchObject({ name: 'InvalidInput', code, message })
  })

  test('keeps the name and code of the place’s own fault', async () => {
    const inputs = {
      read: () => Promise.reject(new Fault('NotFound', 'input_missing', 'Cannot read input "a.json": gone.')),
    }
    await expect(read({ config, ports: { x: 'json' }, world: { inputs } })).rejects.toMatchObject({
      name: 'NotFound',
      code: 'input_missing',
      message: 'Cannot run block "work" (read-input): Cannot read input "a.json": gone.',
    })
  })
})

describe('a path that inputs name', () => {
  const places = (path: string, inputs: Record<string, Json>) => {
    const asked: string[] = []
    const read = async (_tenant: string, given: string) => {
      asked.push(given)
      return bytes('[]')
    }
    const world = { isolate: inProcessIsolate, inputs: { read } }
    return { call: handlerCall({ config: { path }, inputs, ports: { x: 'json' }, world }).call, asked }
  }

  test.each(['read-input', 'read-table'])('is put together by %s and read as it is then', async (handler) => {
    const { call, asked } = places('in/{{inputs.day}}-{{inputs.item.name}}.json', { day: 3, item: { name: '../x' } })
    await findHandler(handler).run(call)
    expect(asked).toEqual(['in/3-../x.json'])
  })

  test.each(['read-input', 'read-table'])('names a file also where %s calls its input "file"', async (handler) => {
    const { call, asked } = places('{{inputs.file}}', { file: 'a.json' })
    await findHandler(handler).run(call)
    expect(asked).toEqual(['a.json'])
  })

  test.each<[string, Record<string, Json>, string]>([
    ['{{inputs.name}}.csv', {}, 'its path is "{{inputs.name}}.csv", but name has no value'],
    ['{{inputs.name}}', { name: 'x'.repeat(1_001) }, 'its path has 1001 characters with its inputs in place; 1000'],
  ])('is refused as %s', async (path, inputs, said) => {
    for (const handler of ['read-input', 'read-table']) {
      const refused = findHandler(handler).run(places(path, inputs).call)
      await expect(refused).rejects.toMatchObject({ code: 'input_path', message: expect.stringContaining(said) })
    }
  })
})

describe('read-table', () => {
  const read = (given: Parameters<typeof handlerCall>[0]) =>
    findHandler('read-table').run(
      handlerCall({ ports: { rows: 'json' }, ...given, world: { isolate: inProcessIsolate, ...given.world } }).call,
    )
  const ref = `objstore://main/${'d'.repeat(64)}`

  test('reads a path, a text, rows, and an object ref in "file", "table" or the one input', async () => {
    const rows = [{ a: '1' }]
    expect(await read({ config: { path: 'a.csv' }, world: file('a\n1') })).toEqual({ rows })
    for (const inputs of [{ table: 'a\n1' }, { anything: 'a\n1' }, { table: rows }]) {
      expect(await read({ inputs })).toEqual({ rows })
    }
    for (const inputs of [{ file: ref, table: 'x' }, { table: ref }, { anything: ref }]) {
      const { call, seen } = handlerCall({ inputs, ports: { rows: 'json' }, world: { isolate: inProcessIsolate } })
      seen.objects.set(ref, bytes('a\n1'))
      expect(await findHandler('read-table').run(call)).toEqual({ rows })
    }
  })

  test('gives an output "columns" beside the rows their names in order, which write-table takes as an input', async () => {
    const ports = { rows: 'json', columns: 'json' } as const
    const answer = await read({ inputs: { table: 'b,a\n1,2' }, ports })
    expect(answer).toEqual({ rows: [{ a: '2', b: '1' }], columns: ['b', 'a'] })
    expect(await read({ inputs: { table: 'a\n1' }, ports: { columns: 'json' } })).toEqual({ columns: [{ a: '1' }] })
    const written = async (inputs: Record<string, Json>) => {
      const world = { isolate: inProcessIsolate }
      const config = { name: 'a.csv', columns: ['a'] }
      const { call, seen } = handlerCall({ inputs, config, ports: { f: 'file' }, world })
      const { f } = await findHandler('write-table').run(call)
      return new TextDecoder().decode(seen.objects.get(String(f)))
    }
    expect(await written(answer)).toBe('b,a\n1,2\n')
    await expect(written({ ...answer, columns: 'a' })).rejects.toMatchObject({ code: 'table_header' })
  })

  test('takes the format by the ending of a path, and encoding, separator and types as they are said', async () => {
    expect(await read({ config: { path: 'x.TSV' }, world: file('a,b\tc\n1\t2') })).toEqual({
      rows: [{ 'a,b': '1', c: '2' }],
    })
    expect(await read({ config: { path: 'x.jsonl' }, world: file('') })).toEqual({ rows: [] })
    const config = { path: 'x.csv', encoding: 'windows-1252', separator: 'pipe', columns: { n: 'integer' } }
    expect(await read({ config, world: file(Uint8Array.of(0x6e, 0x7c, 0xfc, 0x0a, 0x31, 0x7c, 0x80)) })).toEqual({
      rows: [{ n: 1, ü: '€' }],
    })
  })

  test.each<[string, Parameters<typeof handlerCall>[0], string, string]>([
    ['nothing to read', {}, 'input_source', 'neither config "path" nor an input "file" or "table"'],
    ['a file that is no ref', { inputs: { file: 'a.csv' } }, 'input_source', 'path: "{{inputs.file_name}}"'],
    ['two outputs', { inputs: { table: '' }, ports: { a: 'json', b: 'json' } }, 'handler_ports', 'several outputs'],
    [
      'bytes of another encoding',
      { config: { path: 'x' }, world: file(Uint8Array.of(0xfc)) },
      'table_encoding',
      'encoding: utf-8 | utf-16le | utf-16be | windows-1252',
    ],
    ['a broken quote', { inputs: { table: 'a\n"' } }, 'table_malformed', 'line 2, cell 1'],
    ['a header without a name', { inputs: { table: 'a,\n1,2' } }, 'table_header', 'column 2'],
    ['a row too short', { inputs: { table: 'a,b\n1' } }, 'table_row', 'line 2 has 1 cell'],
    ['too many bytes', { config: { path: 'x' }, world: file(new Uint8Array(10_485_761)) }, 'table_too_large', '10 MiB'],
    ['too long a text', { inputs: { table: 'x'.repeat(10_485_761) } }, 'table_too_large', '10 MiB'],
    [
      'rows that are too long as JSON',
      { inputs: { table: `${'n'.repeat(200)}\n${'1\n'.repeat(60_000)}` } },
      'table_too_large',
      'as JSON its rows have',
    ],
    [
      'a process that ended',
      { inputs: { table: 'a' }, world: isolate({ ok: false, because: 'memory', message: 'x' }) },
      'table_failed',
      'it stopped (memory): x',
    ],
  ])('refuses %s, naming the block', async (_, given, code, said) => {
    const message = expect.stringMatching(/^Cannot run block "work" \(read-table\): /)
    await expect(read(given)).rejects.toMatchObject({ code, message })
    await expect(read(given)).rejects.toThrow(said)
  })
})

describe('write-table', () => {
  const write = async (given: Parameters<typeof handlerCall>[0]) => {
    const world = { isolate: inProcessIsolate, ...given.world }
    const { call, seen } = handlerCall({ ports: { out: 'artifact' }, ...given, world })
    const { out } = await findHandler('write-table').run(call)
    return { item: seen.artifacts[0], written: seen.objects.get(String(out)) }
  }
  const inputs = { rows: [{ a: 'x;"', b: 1 }] }

  test.each<[string, object, string, string]>([
    ['out/a.csv', {}, 'a,b\n"x;""",1\n', 'text/csv; charset=utf-8'],
    ['a.tsv', { line_end: 'crlf' }, 'a\tb\r\n"x;"""\t1\r\n', 'text/tab-separated-values; charset=utf-8'],
    ['a.jsonl', {}, '{"a":"x;\\"","b":1}\n', 'application/x-ndjson'],
    ['a.json', {}, '[\n  {\n    "a": "x;\\"",\n    "b": 1\n  }\n]\n', 'application/json'],
    ['a', { columns: ['b'] }, 'b\n1\n', 'text/csv; charset=utf-8'],
    ['a.txt', { format: 'csv', separator: ';', bom: true }, '\uFEFFa;b\n"x;""";1\n', 'text/csv; charset=utf-8'],
  ])('writes %s by its ending and what is said, as an artifact of the run', async (name, more, text, media_type) => {
    const { item, written } = await write({ config: { name, ...more }, inputs })
    expect(item).toMatchObject({ name, media_type, block_id: 'work', attempt: 2 })
    expect(written).toEqual(bytes(text))
  })

  test('of item 3 of a fan-out writes a file of its own', async () => {
    expect((await write({ config: { name: 'a.csv' }, inputs, item: 3 })).item?.name).toBe('a.3.csv')
  })

  test.each<[string, Parameters<typeof handlerCall>[0], string, string]>([
    ['no rows', { inputs: { rows: 'a\n1' } }, 'table_malformed', 'rows are a list of objects'],
    ['no input', { inputs: {} }, 'input_missing', 'named "rows"'],
    ['a name that leads away', { config: { name: '../x' }, inputs }, 'handler_config', 'no ".."'],
    ['a column twice', { config: { name: 'x', columns: ['a', 'a'] }, inputs }, 'handler_config', 'named twice'],
    [
      'a process that ended',
      { inputs, world: isolate({ ok: false, because: 'time', message: 'x' }) },
      'table_failed',
      'it stopped (time): x',
    ],
  ])('refuses %s, naming the block', async (_, given, code, said) => {
    const config = { name: 'x.csv' }
    await expect(write({ config, ...given })).rejects.toMatchObject({ code, message: expect.stringContaining(said) })
  })
})

describe('write-artifact', () => {
  const write = async (given: Parameters<typeof handlerCall>[0]) => {
    const { call, seen } = handlerCall({ ports: { out: 'artifact' }, ...given })
    const { out } = await findHandler('write-artifact').run(call)
    return { item: seen.artifacts[0], text: new TextDecoder().decode(seen.objects.get(String(out))), seen }
  }

  test('stores text as it is and records who made it', async () => {
    const { item, text } = await write({ config: { name: 'out/brief.md' }, inputs: { body: '# Hi' } })
    expect(text).toBe('# Hi')
    expect(item).toMatchObject({
      name: 'out/brief.md',
      bytes: 4,
      media_type: 'text/markdown; charset=utf-8',
      block_id: 'work',
      attempt: 2,
    })
  })

  test('stores other values as indented JSON, and the one input when none is named body', async () => {
    const { item, text } = await write({
      config: { name: 'x', media_type: 'application/json' },
      inputs: { table: [1] },
    })
    expect(text).toBe('[\n  1\n]\n')
    expect(item).toMatchObject({ media_type: 'application/json' })
  })

  test('stores the bytes behind an object ref', async () => {
    const ref = `objstore://main/${'b'.repeat(64)}`
    const { call, seen } = handlerCall({ config: { name: 'x.bin' }, inputs: { body: ref }, ports: { out: 'artifact' } })
    seen.objects.set(ref, Uint8Array.of(1, 2))
    const { out } = await findHandler('write-artifact').run(call)
    expect(seen.objects.get(String(out))).toEqual(Uint8Array.of(1, 2))
    expect(seen.artifacts[0]).toMatchObject({ media_type: 'application/octet-stream', bytes: 2 })
  })

  test.each([
    ['out/plan.md', 'out/plan.3.md'],
    ['plan', 'plan.3'],
    ['v1.0/plan', 'v1.0/plan.3'],
    ['a.tar.gz', 'a.tar.3.gz'],
  ])('of item 3 of a fan-out stores %s as %s', async (name, numbered) => {
    const { item } = await write({ config: { name }, inputs: { body: 'x' }, item: 3 })
    expect(item?.name).toBe(numbered)
  })

  test('says which input it lacks', async () => {
    await expect(write({ config: { name: 'x' }, inputs: { a: 1, b: 2 } })).rejects.toMatchObject({
      code: 'input_missing',
      message: expect.stringContaining('none of its inputs "a", "b" is "body"'),
    })
  })

  test.each(['../x', 'a/../../x', '/x', '.x', '', 'a//b', 'a/', 'a/./b'])('refuses the name %j', async (name) => {
    await expect(write({ config: { name }, inputs: { body: 'x' } })).rejects.toMatchObject({ code: 'handler_config' })
  })
})

describe('table-stats', () => {
  const world = { isolate: inProcessIsolate }
  const stats = (given: Parameters<typeof handlerCall>[0]) =>
    findHandler('table-stats').run(handlerCall({ world, ...given }).call)
  const ports = { stats: 'json', text: 'string' } as const

  test('gives everything as JSON and the same in words', async () => {
    const answer = await stats({
      inputs: { table: 'a,g\n1,x\n2,x\n3,y\n' },
      config: { group_by: 'g', confidence: 0.9 },
      ports,
    })
    expect(answer.stats).toMatchObject({
      rows: 3,
      confidence: 0.9,
      columns: { a: { mean: 2 } },
      groups: [{ group: 'x' }, { group: 'y' }],
    })
    expect(answer.text).toMatch(/a: 3 values.*90 % confidence interval.*\n.*a in x: 2 values/s)
  })

  test('reads a stored file', async () => {
    const ref = `objstore://main/${'c'.repeat(64)}`
    const { call, seen } = handlerCall({ world, inputs: { table: ref }, ports: { stats: 'json' } })
    seen.objects.set(ref, bytes('[{"a":1}]'))
    expect(await findHandler('table-stats').run(call)).toMatchObject({ stats: { rows: 1 } })
  })

  test.each([
    ['no table', { inputs: { table: 7 }, ports }, 'its input is no table: it is number'],
    [
      'an unknown column',
      { inputs: { table: 'a\n1' }, config: { columns: ['z'] }, ports },
      'there is no column "z"; it has "a"',
    ],
    ['a number output', { inputs: { table: 'a\n1' }, ports: { n: 'number' } }, 'an output is number; allowed are json'],
  ] as const)('refuses %s', async (_, given, said) => {
    const message = expect.stringContaining(said)
    await expect(stats(given)).rejects.toMatchObject({ name: 'InvalidInput', code: 'table_stats_failed', message })
  })
})

describe('builtin:write-file', () => {
  const config = { content_from: 'input', default_path_template: './output/content-{timestamp}.md', mkdir: true }
  const ports = { file_path: 'string', file_name: 'string', bytes_written: 'number', save_summary: 'string' } as const
  const world = (artifacts: readonly object[] = []) => ({
    runs: {
      meta: async () => ({ created_at: '2026-11-22T03:04:05.678Z' }),
      artifacts: async () => artifacts,
      putArtifact: async () => undefined,
    },
    objects: { put: async (_: string, body: Uint8Array) => ({ ref: 'objstore://main/x', bytes: body.length }) },
  })
  const run = (more: object, artifacts: readonly object[] = []) =>
    findHandler('builtin:write-file').run(
      handlerCall({ config, inputs: { input: '# Done' }, ports, ...more, world: world(artifacts) as never }).call,
    )

  test('makes an artifact named by the start of the run', async () => {
    expect(await run({})).toEqual({
      file_path: 'output/content-20261122-030405.md',
      file_name: 'content-20261122-030405.md',
      bytes_written: 6,
      save_summary: 'stored 6 bytes as artifact output/content-20261122-030405.md',
    })
  })

  test.each(['../x.md', '/etc/x', 'a//b', 'a/', '~/x', 'a\\b'])('refuses the path %s', async (path) => {
    const more = { config: { ...config, path_from: 'path' }, inputs: { input: 'x', path } }
    await expect(run(more)).rejects.toMatchObject({ name: 'InvalidInput', code: 'bad_artifact_name' })
  })

  test('replaces what another block wrote only with overwrite', async () => {
    const other = [{ name: 'output/content-20261122-030405.md', block_id: 'other' }]
    await expect(run({}, other)).rejects.toMatchObject({ code: 'artifact_exists' })
    expect(await run({ config: { ...config, overwrite: true } }, other)).toMatchObject({ bytes_written: 6 })
  })
})
