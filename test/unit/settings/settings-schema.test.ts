import { Ajv2020 } from 'ajv/dist/2020.js'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { SETTINGS_FILE } from '../../../clients/cli/project/write-project.ts'
import { SETTINGS_WORDS, settingsSchema } from '../../../shared/settings/json-schema.ts'
import { readText } from '../docs/markdown.ts'

const validate = new Ajv2020({ strict: false, formats: { uri: true } }).compile(settingsSchema())

describe('settingsSchema()', () => {
  test('is what docs/sluice.schema.json holds (vitest -u writes it anew)', async () => {
    const text = `${JSON.stringify(settingsSchema(), null, 2)}\n`
    await expect(text).toMatchFileSnapshot('../../../docs/sluice.schema.json')
  })

  test('says of every key what it means, and of no other', () => {
    const paths = new Set(keysOf(settingsSchema(), ''))
    expect([...paths].toSorted()).toEqual(Object.keys(SETTINGS_WORDS).toSorted())
    expect(Object.values(SETTINGS_WORDS).filter((words) => !/^[A-Z].{4,110}\.$/.test(words))).toEqual([])
  })

  test.each([
    ['sluice.yaml', readText('sluice.yaml')],
    ['the file of a new project', SETTINGS_FILE],
  ])('accepts %s, which names it in its first line', (_, text) => {
    validate(load(text))
    expect(validate.errors).toBe(null)
    expect(text.split('\n')[0]).toMatch(/^# yaml-language-server: \$schema=\S+\/sluice\.schema\.json$/)
  })

  test.each([
    ['a key nobody knows', { prot: 1 }],
    ['a port that is no number', { port: 'many' }],
    ['a provider of no type', { providers: { own: { type: 'magic' } } }],
    ['a limit below its least', { safety: { max_runs: 0 } }],
    ['a key where its place belongs', { providers: { own: { type: 'ollama', url: 'http://x', key: 'sk' } } }],
  ])('refuses %s', (_, settings) => {
    expect(validate(settings)).toBe(false)
  })
})

type Schema = Readonly<Record<string, unknown>>

/** Paths of all keys, as the words have them; read here by other means than there. */
function keysOf(schema: Schema, path: string): readonly string[] {
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as readonly Schema[])
  const rest = schema.additionalProperties
  return [
    ...Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>).flatMap(([name, one]) => {
      const own = path === '' ? name : `${path}.${name}`
      return [own, ...keysOf(one, own)]
    }),
    ...(typeof rest === 'object' ? keysOf(rest as Schema, `${path}.*`) : []),
    ...(typeof schema.items === 'object' ? keysOf(schema.items as Schema, `${path}[]`) : []),
    ...lists.flatMap((one) => keysOf(one, path)),
  ]
}
