import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'

/** What a document is told about the handlers it names, with the place in its text. */
function problems(block: string): readonly string[] {
  const parsed = parseDag(`blocks:\n  - id: a\n    mode: deterministic\n${block}`)
  if (parsed.ok) return []
  return parsed.errors.map(
    ({ code, message, line, column }) =>
      `${line}:${column} ${code} ${message.replace('Cannot compile DAG "dag": ', '')}`,
  )
}

const reads = (config: string, more = '    outputs: { rows: json }') =>
  `${more}\n    deterministic: { handler: read-table, config: ${config} }\n`
const writes = (config: string, more = '    inputs: { rows: json }\n    outputs: { file: artifact }') =>
  `${more}\n    deterministic: { handler: write-table, config: ${config} }\n`

describe('a document', () => {
  test.each([
    reads(
      '{ path: "{{inputs.file_name}}", columns: { id: text, n: { type: integer, required: false } }, strict: true }',
    ),
    reads('{}', '    outputs: { rows: json, columns: json }'),
    reads('{}', '    outputs: { columns: json }'),
    reads('{ separator: ";" }', '    inputs: { file: file }\n    outputs: { rows: json }'),
    reads('{ path: "{{inputs.item}}" }', '    foreach: { items: [a.csv, b.csv] }\n    outputs: { rows: json }'),
    writes('{ name: out/a.tsv, separator: tab, columns: [id, n], line_end: crlf, bom: true, formulas: keep }'),
    writes('{ name: a.json }', '    inputs: { rows: json }\n    outputs: { f: file, g: artifact }'),
    '    outputs: { text: string }\n    deterministic: { handler: read-input, config: { path: "{{inputs.name}}" } }\n',
  ])('may say %s', (block) => {
    expect(problems(block)).toEqual([])
  })

  test('that reads a name nobody declared has it as a run input, so it is asked for and hashed', () => {
    const parsed = parseDag({
      blocks: [
        {
          id: 'a',
          mode: 'deterministic',
          outputs: { rows: 'json' },
          deterministic: { handler: 'read-table', config: { path: '{{inputs.day}}.csv' } },
        },
      ],
    })
    expect(parsed.ok && parsed.dag.inputs).toEqual({ day: { required: true, declared: false } })
  })

  test.each<[string, string]>([
    [
      reads('{ path: "{{goal}}" }'),
      '5:59 malformed_template deterministic.config.path of block "a" has "{{goal}}"; a template reads inputs as {{inputs.NAME}}',
    ],
    [
      reads('{ columns: { n: integr } }'),
      'deterministic.config.columns.n of block "a" ("integr") is not allowed: it must be text, number, integer, boolean, date',
    ],
    [
      reads('{ separator: "^" }'),
      'invalid_value deterministic.config.separator of block "a" is "^"; allowed are "comma", "semicolon", "tab", "pipe"',
    ],
    [
      reads('{ encoding: latin1 }'),
      'deterministic.config.encoding of block "a" is "latin1"; allowed are "utf-8", "utf-16le", "utf-16be", "windows-1252"',
    ],
    [reads('{ colums: {} }'), 'unknown_key deterministic.config.colums of block "a" is an unknown key'],
    [
      reads('{ strict: true }'),
      'invalid_value block "a": "strict" allows the columns of "columns" only, but there are none. Add "columns".',
    ],
    [
      reads('{ format: json, separator: tab }'),
      'invalid_value block "a": "separator" does not go with the format json',
    ],
    [reads('{ format: tsv, separator: pipe }'), 'invalid_value block "a": "separator" does not go with the format tsv'],
    [
      reads('{}', '    outputs: { a: json, b: json }'),
      'handler_ports block "a" has the outputs "a", "b"; the handler "read-table" fills exactly one, of type json',
    ],
    [
      reads('{}', '    inputs: { table: string }'),
      'handler_ports block "a" has no output; the handler "read-table" fills exactly one, of type json',
    ],
    [
      reads('{}', '    outputs: { rows: string }'),
      'type_mismatch outputs.rows of block "a" is a string; the handler "read-table" fills json',
    ],
    [
      reads('{}', '    inputs: { table: number }\n    outputs: { rows: json }'),
      'type_mismatch inputs.table of block "a" is a number; the handler "read-table" takes string, json, file or artifact there',
    ],
    [writes('{}'), 'missing_key deterministic.config.name of block "a" is missing'],
    [writes('{ name: ../x }'), 'deterministic.config.name of block "a" ("../x") is not allowed'],
    [writes('{ name: a.jsonl, bom: true }'), 'invalid_value block "a": "bom" does not go with the format ndjson'],
    [
      writes('{ name: x }', '    inputs: { rows: string }\n    outputs: { f: file }'),
      'type_mismatch inputs.rows of block "a" is a string; the handler "write-table" takes json there',
    ],
    [
      writes('{ name: x }', '    inputs: { rows: json }\n    outputs: { n: number }'),
      'type_mismatch outputs.n of block "a" is a number; the handler "write-table" fills file or artifact',
    ],
    [
      '    outputs: { n: number }\n    deterministic: { handler: read-input }\n',
      'type_mismatch outputs.n of block "a" is a number; the handler "read-input" fills string, json, file or artifact',
    ],
  ])('may not say %s', (block, said) => {
    expect(problems(block).join('\n')).toContain(said)
    expect(problems(block)).toHaveLength(1)
    expect(problems(block)[0]).toMatch(/^\d+:\d+ /)
  })
})
