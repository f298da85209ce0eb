import { describe, expect, test } from 'vitest'
import { ProviderSettingsSchema } from '../../../shared/providers/settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { codesIn, fencedBlocks, filesBelow, readText, rowsBelow } from './markdown.ts'

const TEXT = readText('docs/providers.md')
const keysBelow = (heading: string) => rowsBelow(TEXT, heading).flatMap(([key = '']) => codesIn(key))
const typesOf = (heading: string, key: string) =>
  rowsBelow(TEXT, heading).flatMap(([name = '', type = '']) => (codesIn(name)[0] === key ? codesIn(type) : []))

describe('docs/providers.md', () => {
  test('has an example that works, of every type but local', () => {
    const [example = ''] = fencedBlocks(TEXT, 'yaml')
    const { providers, agents } = parseSettings(example, 'sluice.yaml')
    expect(Object.values(providers).map(({ type }) => type)).toEqual([
      'ollama',
      'openai-compatible',
      'openai',
      'anthropic',
      'google',
      'ai-sdk',
      'http',
      'openclaw',
      'bedrock',
      'replay',
    ])
    expect(Object.keys(agents)).toEqual(['writer', 'coder', 'judge'])
  })

  test('lists the settings there are, and every type', () => {
    const forms = ProviderSettingsSchema.options
    const keys = new Set(forms.flatMap(({ shape }) => Object.keys(shape)))
    expect(keysBelow('Provider').toSorted()).toEqual([...keys].sort())
    const types = forms.map(({ shape }) => shape.type.value)
    expect(typesOf('Provider', 'type')).toEqual(types)
    for (const type of types.filter((name) => name !== 'local')) expect(TEXT).toContain(`\n## ${type}\n`)
    const { shape } = SettingsSchema.shape.agents.unwrap().valueType
    expect(keysBelow('Agent settings').toSorted()).toEqual(Object.keys(shape).sort())
    expect(typesOf('Agent settings', 'role')).toEqual(shape.role.options)
  })

  test('has every code the adapters fail with', () => {
    const sources = filesBelow(['functions/providers'], '.ts').map((path) => readText(path))
    const codes = sources.flatMap((source) =>
      [...source.matchAll(/'(provider_[a-z_]+)'/g)].map(([, code = '']) => code),
    )
    const listed = keysBelow('Failures').filter((code) => code.startsWith('provider_'))
    expect(listed.toSorted()).toEqual([...new Set(codes)].sort())
  })

  test('names what the adapters send and read, where a number can be wrong', () => {
    expect(TEXT).toContain('Answers end at 8 MiB')
    expect(readText('functions/providers/remote.ts')).toContain('MAX_BODY_BYTES = 8 * 1_024 * 1_024')
    expect(readText('functions/providers/remote.ts')).toContain('DEFAULT_TIMEOUT_MS = 300_000')
  })
})
