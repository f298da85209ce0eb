import { linearPattern } from '../text/linear-pattern.ts'

/** Patterns the braces of one glob may stand for. */
const MAX_FORMS = 64

/**
 * Whether a path fits a glob: anchored at both ends, case-sensitive. `*` and `?` do not cross `/`, a segment `**` does
 * (none too), `[ab]`, `[!a-z]` and `{a,b}` as everywhere; no wildcard means a leading dot. A glob without `/` is
 * about the base name. Own code on a linear-time engine: globs come from contracts that anybody may write, and the
 * libraries' backtracking takes minutes for `*a*a*a*a*b`; the tests hold it equal to Node's `path.matchesGlob`.
 * A glob that cannot be read (`readGlob`) fits nothing.
 */
export function fitsGlob(glob: string, path: string): boolean {
  return globMatcher(glob)(path)
}

/** The same for many paths: the glob is compiled once. */
export function globMatcher(glob: string): (path: string) => boolean {
  const read = readGlob(glob)
  const forms = read.ok ? read.forms : []
  return (path) => {
    const segments = path.split('/')
    return forms.some((form) => fitsForm(form, form.length === 1 ? segments.slice(-1) : segments))
  }
}

type Form = readonly Segment[]
/** `crosses`: `**`, which stands for any number of names. */
type Segment = { readonly crosses: boolean; readonly wild: boolean; fits(name: string): boolean }

/** A glob as the forms its braces stand for, each as its segments. */
export function readGlob(
  glob: string,
): { readonly ok: true; readonly forms: readonly Form[] } | { readonly ok: false; readonly message: string } {
  const plain = withoutBraces(glob)
  if (plain === undefined) return { ok: false, message: `its braces stand for more than ${MAX_FORMS} patterns` }
  const forms: Form[] = []
  for (const one of plain) {
    const form: Segment[] = []
    for (const segment of one.split('/')) {
      // Two in a row cross what any number of them does.
      if (segment === '**' && form.at(-1)?.crosses && form.at(-2)?.crosses) continue
      const read = readSegment(segment)
      if ('message' in read) return { ok: false, message: read.message }
      form.push(read)
    }
    forms.push(form)
  }
  return { ok: true, forms }
}

/** `a{b,c}` as `ab` and `ac`, innermost braces first; braces without a comma are characters. */
function withoutBraces(glob: string): readonly string[] | undefined {
  let open = [glob]
  const done = new Set<string>()
  while (open.length > 0) {
    if (open.length + done.size > MAX_FORMS) return undefined
    open = open.flatMap((one) => {
      const match = /\{([^{}]*,[^{}]*)\}/.exec(one)
      if (match === null) {
        done.add(one)
        return []
      }
      const [whole, inside = ''] = match
      const tail = one.slice(match.index + whole.length)
      return inside.split(',').map((part) => one.slice(0, match.index) + part + tail)
    })
  }
  return [...done]
}

function readSegment(segment: string): Segment | { readonly message: string } {
  if (segment === '**') return { crosses: true, wild: true, fits: () => true }
  const compiled = linearPattern(`^${segment.replace(PART, partPattern)}$`, 's')
  if (!compiled.ok) return { message: compiled.message }
  return { crosses: false, wild: /^[*?[]/.test(segment), fits: (name) => compiled.pattern.test(name) }
}

/** A run of stars, a question mark, a class, or any other character. */
const PART = /\*+|\?|\[([!^]?)(\]?[^\]]*)\]|./gsu

function partPattern(part: string, negated: string | undefined, members: string | undefined): string {
  if (part.startsWith('*')) return '.*'
  if (part === '?') return '.'
  if (members === undefined || members === '') return literalPattern(part)
  return `[${negated === '' ? '' : '^'}${members.replace(/[\\[\]^&]/g, (character) => `\\${character}`)}]`
}

/** Every way through at once: a set of places in the form, moved on by each name of the path. */
function fitsForm(form: Form, names: readonly string[]): boolean {
  let places = withSkips(form, [0])
  for (const name of names) {
    const next = places.flatMap((place) => {
      const segment = form[place]
      if (segment === undefined || !fitsName(segment, name)) return []
      return segment.crosses ? [place, place + 1] : [place + 1]
    })
    places = withSkips(form, next)
  }
  return places.includes(form.length)
}

/** `**` may stand for nothing, but not as the last: `a/**` is about what is in `a`. */
function withSkips(form: Form, places: readonly number[]): readonly number[] {
  const all = new Set(places)
  for (const place of all) if (form[place]?.crosses === true && place + 1 < form.length) all.add(place + 1)
  return [...all]
}

function fitsName({ wild, fits }: Segment, name: string): boolean {
  if (wild && (name === '' || name.startsWith('.'))) return false
  return fits(name)
}

/** Tells whether a whole text fits a pattern in which `*` alone is special: any characters, none too. Takes linear time. */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*').map(literalPattern)
  const compiled = linearPattern(`^${parts.join('.*')}$`, 's')
  return (text) => compiled.ok && compiled.pattern.test(text)
}

/** A text as a pattern that means itself. */
function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, (character) => `\\${character}`)
}
