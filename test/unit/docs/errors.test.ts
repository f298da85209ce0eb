import { describe, expect, test } from 'vitest'
import { filesBelow, readText } from './markdown.ts'

/** Every code a caller, an author of a DAG or an operator can meet has its section, and no section is about nothing. */
const documented = [...readText('docs/errors.md').matchAll(/^### `([^`]+)`$/gm)].map(([, code = '']) => code)
const sources = filesBelow(['shared', 'functions', 'infra/local', 'infra/modules', 'clients'], '.ts').map((path) => ({
  path,
  code: readText(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, ''),
}))

/** Codes that are put together from parts: the literal cannot be found in the source. */
const COMPOSED = ['bad_body', 'bad_query', 'pre_gate_failed', 'post_gate_failed']

/** Words at the place of a code that are none: outcomes of a run, codes of zod issues, JavaScript's own errors. */
const NO_CODES = new Set(['completed', 'custom', 'unrecognized_keys', 'string', 'linearRegExp'])

describe('docs/errors.md', () => {
  test('has no section twice', () => {
    expect(documented.filter((code, at) => documented.indexOf(code) !== at)).toEqual([])
  })

  test('has a section for every code the sources answer with', () => {
    const missing = sources.flatMap(({ path, code }) =>
      codesOf(code)
        .filter((found) => !documented.includes(found))
        .map((found) => `${found} (${path})`),
    )
    expect(missing).toEqual([])
  })

  test('has no section for a code nothing answers with', () => {
    const known = (code: string) =>
      COMPOSED.includes(code) || sources.some((source) => source.code.includes(`'${code}'`))
    expect(documented.filter((code) => !known(code))).toEqual([])
  })
})

/** Where a code stands alone: second argument of a Fault, member or constant `code`. */
const PLACES: readonly RegExp[] = [/new Fault\(\s*[^,]+,\s*([^,]+),/g, /\bcode: ([^,}\n]+)/g, /\bcode =\s+([^\n]+)/g]

/** Where it stands among other words: arguments of refuse(), rows of tables. Those codes have an underscore. */
const CALLS: readonly RegExp[] = [
  /\brefused?\(((?:[^`=)]|===)*)/g,
  /\[\s*(?:'[A-Z]\w+'|\/[^\n]*\/),\s*('[a-z_]+'),/g,
  /\[('[a-z_]+'), \(\) =>/g,
]

function codesOf(source: string): readonly string[] {
  const alone = PLACES.flatMap((place) => matched(source, place))
  const among = CALLS.flatMap((place) => matched(source, place)).filter((word) => word.includes('_'))
  return [...new Set([...alone, ...among])].filter((code) => !NO_CODES.has(code))
}

/** Quoted words; what is compared with and members of paths are left out. */
function matched(source: string, place: RegExp): readonly string[] {
  const parts = [...source.matchAll(place)].map(([, part = '']) => part)
  return parts.flatMap((part) => {
    const plain = part.replace(/=== '\w+'|'\w+' in/g, '').replace(/\[\.\.\.[^\]]*\]/g, '')
    return [...plain.matchAll(/'([A-Za-z]+(?:_[A-Za-z]+)*)'/g)].map(([, word = '']) => word)
  })
}
