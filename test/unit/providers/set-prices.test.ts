import { describe, expect, test } from 'vitest'
import { modelPriceAt } from '../../../shared/providers/model-prices.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

const settings = parseSettings(
  `
providers:
  gw: { type: openai-compatible, url: "https://router.example/v1" }
  openai: { type: openai-compatible, url: "https://api.openai.com/v1" }
  kept: { type: replay, record: r.json }
prices:
  gw/org/model-1.5: { input: 1, output: 2 }
  gw/*: { input: 3, output: 4 }
  openai/gpt-4o: { input: 2, output: 8 }
  kept/*: { input: 9, output: 9 }
`,
  'sluice.yaml',
)
const of = (name: string, model: string, answered?: string) => {
  const price = modelPriceAt(settings, name, model, answered)
  return price && [price.usd_per_million_in, price.usd_per_million_out]
}

describe('prices of the settings', () => {
  test.each([
    ['gw', 'org/model-1.5', [1, 2]],
    ['gw', 'org/model-1.5-2026-01-31', [1, 2]],
    ['gw', 'anything', [3, 4]],
    ['openai', 'gpt-4o', [2, 8]],
    ['openai', 'gpt-4o-mini', [0.15, 0.6]],
    ['openai', 'nobody-knows', undefined],
    ['kept', 'm', [0, 0]],
    ['local', 'm', [0, 0]],
  ])('%s %s', (name, model, expected) => expect(of(name, model)).toEqual(expected))

  test('go by what was asked for; the table by what the server calls it', () => {
    expect(of('openai', 'gpt-4o', 'gpt-4o-mini')).toEqual([2, 8])
    expect(of('openai', 'best', 'gpt-4o-mini')).toEqual([0.15, 0.6])
  })

  test.each([
    ['gw: { input: 1, output: 1 }', /a provider, a slash and a model/],
    ['gw/m: { input: -1, output: 1 }', /prices\.gw\/m\.input/],
    ['gw/m: { input: 1 }', /output/],
    ['gv/m: { input: 1, output: 1 }', /is of provider .*gv.*, which is none of providers: .*gw/],
  ])('%s is refused', (line, words) => {
    const text = `providers:\n  gw: { type: ollama, url: "http://127.0.0.1:1" }\nprices:\n  ${line}\n`
    let seen = ''
    try {
      parseSettings(text, 'sluice.yaml')
    } catch (error) {
      seen = JSON.stringify(error, ['name', 'code', 'message', 'issues', 'path', 'hint']) + String(error)
    }
    expect(seen).toMatch(words)
  })
})
