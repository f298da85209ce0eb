import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { parseEval } from '../../../shared/evals/eval-file.ts'
import { importPromptfoo } from '../../../shared/evals/promptfoo.ts'
import { readYaml } from '../../../shared/text/yaml.ts'

function imported(text: string, files: Readonly<Record<string, string>> = {}) {
  const read = readYaml(text)
  if (!read.ok) throw new Error('the configuration is no YAML')
  return importPromptfoo(read.source, 'tried', (path) => files[path])
}

const places = ({ not_mapped }: ReturnType<typeof imported>) =>
  not_mapped.map(({ line, column, what }) => `${line}:${column} ${what}`)

const CONFIG = `description: Translations
prompts:
  - "Translate to {{language}}: {{input}}"
  - file://polite.txt
providers:
  - openai:gpt-4.1-mini
  - { id: "anthropic:messages:claude-x", label: claude, config: { temperature: 0, tools: [] } }
  - python:own.py
defaultTest:
  vars: { language: French }
  options: { provider: "openai:gpt-4.1" }
  assert:
    - { type: llm-rubric, value: Sounds natural, metric: natural }
    - { type: not-icontains, value: as an AI }
tests:
  - description: two items, since a list is each of its values
    vars: { input: [Hello, Good night] }
    assert:
      - { type: contains, value: "{{input}}" }
      - { type: javascript, value: output.length > 3 }
      - { type: regex, value: "(?=x)y" }
      - { type: equals, value: Bonjour, weight: 2 }
  - vars: { input: Bye, language: German }
    assert:
      - { type: icontains-any, value: "tschüss, ade" }
      - { type: similar, value: Auf Wiedersehen, threshold: 0.8 }
    threshold: 0.5
  - file://more.csv
evaluateOptions: { maxConcurrency: 2, repeat: 3 }
outputPath: out.html
`
const FILES = {
  'polite.txt': 'Please translate {{ input }} to {{language}}\n---\n{% if x %}no{% endif %}',
  'more.csv': 'input,__expected,__metric\nOne,"contains: un",\nTwo,deux,x\n',
}

describe('importPromptfoo()', () => {
  const done = imported(CONFIG, FILES)

  test('makes a document and an evaluation that are valid', () => {
    const parsed = parseDag(done.document, { providers: ['openai', 'anthropic'] })
    expect(parsed.ok ? [] : parsed.errors).toEqual([])
    const evaluation = parseEval(JSON.stringify(done.evaluation), 'tried.yaml')
    expect(evaluation.variants.map(({ name }) => name)).toEqual([
      'prompt-1.gpt-4.1-mini',
      'prompt-1.claude',
      'prompt-2.gpt-4.1-mini',
      'prompt-2.claude',
    ])
    expect(evaluation.variants[3]?.set).toEqual({
      'answer.agent.provider': 'anthropic',
      'answer.agent.model': 'claude-x',
      'answer.agent.prompt': 'Please translate {{inputs.input}} to {{inputs.language}}',
      'answer.agent.model_params': { temperature: 0 },
    })
    expect([evaluation.concurrency, evaluation.gates[0], evaluation.expect[0]]).toEqual([
      2,
      {
        name: 'natural',
        block: 'answer',
        check: { type: 'llm_review', port: 'text', criteria: 'Sounds natural', provider: 'openai', model: 'gpt-4.1' },
      },
      {
        name: 'not-icontains',
        block: 'answer',
        check: { type: 'contains', port: 'text', values: ['as an AI'], case_sensitive: false, not: true },
      },
    ])
    expect(evaluation.data.items?.map(({ values }) => values)).toEqual([
      { language: 'French', input: 'Hello' },
      { language: 'French', input: 'Good night' },
      { language: 'German', input: 'Bye' },
      { language: 'French', input: 'One' },
      { language: 'French', input: 'Two' },
    ])
    expect(evaluation.data.items?.map(({ expect: own = [] }) => own.map(({ name }) => name))).toEqual([
      ['contains', 'equals'],
      ['contains', 'equals'],
      ['icontains-any'],
      ['contains'],
      ['equals'],
    ])
    expect(evaluation.data.items?.[0]?.expect?.[0]?.check.values).toEqual(['{{item.input}}'])
  })

  test('names all that has no counterpart, at its place', () => {
    expect(places(done)).toMatchInlineSnapshot(`
      [
        "4:5 logic in a template ({% .. %}) is not taken over, and neither is its prompt",
        "7:83 "tools" of a provider is not taken over: write it into model_params if its provider knows it",
        "8:5 provider "python:own.py" has no counterpart here",
        "20:9 assert "javascript": it is code; write a gate of your project, or an expr gate",
        "21:9 assert "regex": Parameter "pattern" of gate type "matches": the pattern is not supported (RE2 syntax): invalid or unsupported Perl syntax: \`(?=\`",
        "22:41 "weight" of an assert has no counterpart here: it holds or not, and each counts the same",
        "26:9 assert "similar": embeddings are not compared here",
        "27:5 "threshold" of a test has no counterpart here",
        "28:5 column "__metric" of "more.csv" has no counterpart here",
        "29:39 "repeat" has no counterpart here",
        "30:1 "outputPath" has no counterpart here",
      ]
    `)
  })

  test('drops nothing: each key of a configuration is read or named', () => {
    const odd = imported('promts: [x]\nscenarios: []\nredteam: {}\nenv: { A: b }\n')
    expect(places(odd).map((line) => line.replace(/ has no counterpart here/, ''))).toEqual([
      '1:1 "promts"',
      '2:1 "scenarios"',
      '3:1 "redteam"',
      '4:1 "env"',
    ])
  })

  test.each([
    [
      '[{"role":"system","content":"Be brief"},{"role":"user","content":"Say {{x}}"}]',
      { system: 'Be brief', prompt: 'Say {{inputs.x}}' },
    ],
    ['[{"role":"user","content":"Say {{x}}"}]', { prompt: 'Say {{inputs.x}}' }],
    ['[1, 2] are two numbers of {{x}}', { prompt: '[1, 2] are two numbers of {{inputs.x}}' }],
  ])('a conversation is a system text and a prompt: %s', (prompt, agent) => {
    const one = imported(JSON.stringify({ prompts: [prompt], providers: ['openai:m'], tests: [{ vars: { x: 'y' } }] }))
    expect(one.document).toMatchObject({ blocks: [{ agent: { provider: 'openai', model: 'm', ...agent } }] })
    expect(one.not_mapped).toEqual([])
  })

  test.each<[string, object, object | RegExp]>([
    ['is-json', { value: { type: 'object' } }, { type: 'json_schema', port: 'text', schema: { type: 'object' } }],
    ['not-is-json', {}, { type: 'valid_json', port: 'text', not: true }],
    [
      'contains-all',
      { value: ['a', 'b'] },
      { type: 'contains', port: 'text', values: ['a', 'b'], case_sensitive: true },
    ],
    ['contains', { value: 'a, b' }, { type: 'contains', port: 'text', values: ['a, b'], case_sensitive: true }],
    ['starts-with', { value: 'x' }, { type: 'starts_with', port: 'text', value: 'x' }],
    ['regex', { value: '^a+$' }, { type: 'matches', port: 'text', pattern: '^a+$' }],
    ['levenshtein', { value: 'x', threshold: 2 }, { type: 'levenshtein', port: 'text', text: 'x', max: 2 }],
    ['latency', { threshold: 200 }, { type: 'latency', max_ms: 200 }],
    ['cost', { threshold: 0.01 }, { type: 'cost', max: 0.01 }],
    ['word-count', { value: { min: 2 } }, { type: 'word_count', port: 'text', min: 2 }],
    ['is-refusal', {}, { type: 'is_refusal', port: 'text', expect: true }],
    ['cost', {}, /no threshold/],
    ['python', { value: 'x' }, /it is code/],
    ['factuality', { value: 'x' }, /there is no gate type like it/],
    ['llm-rubric', { value: 'x' }, /under defaultTest/],
    ['constructor', {}, /there is no gate type like it/],
    ['equals', { value: '{{ x | upper }}' }, /the expression/],
  ])('assert %s %j', (type, more, wanted) => {
    const assert = [{ type, ...more }]
    const one = imported(
      JSON.stringify({ prompts: ['{{x}}'], providers: ['openai:m'], tests: [{ vars: { x: 'y' }, assert }] }),
    )
    if (wanted instanceof RegExp) return expect(places(one).join()).toMatch(wanted)
    expect([one.evaluation, one.not_mapped]).toMatchObject([{ data: { items: [{ expect: [{ check: wanted }] }] } }, []])
  })
})
