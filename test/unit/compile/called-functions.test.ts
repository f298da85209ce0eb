import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'

/**
 * Whoever may start a run writes machines: of what they write, only ids of blocks come into the text. The shipped
 * documents, with every text in them that is free replaced by what would call something else if it got there.
 */
const DAGS = join(import.meta.dirname, '../../../dags')
const HOSTILE = [
  'arn:aws:lambda:eu-central-1:111122223333:function:evil',
  ['$', '{ShellGate}'].join(''),
  ['$', '{Part1}'].join(''),
  '{% $evil %}',
  '"},"Resource":"arn:aws:states:::dynamodb:deleteItem","evil":"',
]
/** Keys whose values are any text. */
const FREE = new Set(['prompt', 'description', 'error', 'reason', 'default', 'topic'])

function withTexts(value: unknown, hostile: string, key = '', depth = 0): unknown {
  if (typeof value === 'string') return FREE.has(key) || (key === 'name' && depth === 1) ? hostile : value
  if (Array.isArray(value)) return value.map((item) => withTexts(item, hostile, key, depth))
  if (typeof value !== 'object' || value === null) return value
  const below = (name: string) => depth + Number(name !== 'blocks')
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withTexts(item, hostile, name, below(name))]),
  )
}

interface Task {
  readonly Type?: string
  readonly Resource?: string
  readonly Arguments?: { readonly FunctionName?: string; readonly StateMachineArn?: string }
}

function tasksIn(value: unknown): readonly Task[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'Type' in value && value.Type === 'Task' ? [value as Task] : []
  return [...own, ...Object.values(value).flatMap(tasksIn)]
}

const PLACEHOLDERS = new Set(FUNCTIONS.flatMap(({ placeholder }) => (placeholder === undefined ? [] : [placeholder])))
const files = readdirSync(DAGS).filter((file) => file.endsWith('.yaml'))

test.each(files)('whatever is written into %s, its machine calls functions of the catalog and nothing else', (file) => {
  for (const hostile of HOSTILE) {
    const document = JSON.stringify(withTexts(load(readFileSync(join(DAGS, file), 'utf8')), hostile))
    expect(document).toContain(JSON.stringify(hostile).slice(1, -1))
    const parsed = parseDag(document, { name: 'hostile', providers: ['local'] })
    if (!parsed.ok) throw new Error(`${file}: ${parsed.errors.map(({ message }) => message).join('\n')}`)
    const { text, parts } = compileDag(parsed.dag, { bytes: 12_000, events: 20_000 })
    for (const one of [text, ...parts.map((part) => part.text)]) {
      expect(one).not.toContain('evil')
      const known = new Set([...PLACEHOLDERS, ...parts.map(({ key }) => key)])
      const named = [...one.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => name)
      expect(named.filter((name) => !known.has(name))).toEqual([])
      for (const { Resource, Arguments = {} } of tasksIn(JSON.parse(one))) {
        expect(Resource).toMatch(
          /^arn:aws:states:::(lambda:invoke(\.waitForTaskToken)?|states:startExecution\.sync:2)$/,
        )
        expect(Arguments.FunctionName ?? Arguments.StateMachineArn).toMatch(/^\$\{\w+\}$/)
      }
    }
  }
})
