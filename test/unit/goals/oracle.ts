/**
 * What the specification says of one evaluation, told a second time: nothing of shared/goals is used here, and the ways
 * are other ones (characters instead of patterns, JSON's own numbers, a recursive glob).
 */
export interface AskedOfOracle {
  readonly contract: unknown
  readonly output: string
  readonly artifacts: readonly string[]
  readonly trust_score: unknown
  readonly claimed_status: string
  readonly quality: 'standard' | 'ml'
  readonly blockers: readonly string[]
  readonly prior_attempts: readonly { readonly fingerprint?: string; readonly unmet: readonly string[] }[]
}

type Loose = Readonly<Record<string, unknown>>
interface Said {
  readonly type: string
  readonly subtype: string
  readonly content: string
  readonly line: number
}

const ORDER = ['SUCCESS', 'PARTIAL', 'BLOCKED', 'FAILED', 'ABORTED']

export function oracle(asked: AskedOfOracle) {
  const said = markersOf(asked.output)
  const verified = findings(said)
  const goal = goalOf(asked, said, verified.filter((one) => one.ci && one.effect).length)
  const criteria = ((asked.contract as Loose | undefined)?.acceptance_criteria ?? []) as readonly Loose[]
  const hasFile = goal.criteria.some((status, index) => status === 'MET' && criteria[index]?.kind === 'artifact_exists')
  const isNothing = [...asked.output].every((letter) => /\s/.test(letter)) && !hasFile
  const trust = typeof asked.trust_score === 'number' && asked.trust_score >= 80 && asked.trust_score <= 100
  const penalties = isNothing ? [100] : penaltiesOf(said, verified, asked.quality)
  const decided = matrix(trust, goal.status, penalties.length === 0)
  const claimed = ORDER.indexOf(asked.claimed_status) > ORDER.indexOf(decided[0])
  return {
    goal_status: goal.status,
    criteria: goal.criteria,
    met_count: goal.criteria.filter((status) => status === 'MET').length,
    trust_passed: trust,
    quality: {
      passed: penalties.length === 0,
      score: Math.max(
        0,
        penalties.reduce((left, one) => left - one, 100),
      ),
    },
    row: `${trust ? 'PASS' : 'FAIL'} x ${goal.status}`,
    final_status: claimed ? asked.claimed_status : decided[0],
    action: claimed ? 'none' : decided[1],
  }
}

function matrix(trust: boolean, goal: string, quality: boolean): readonly [string, string] {
  if (goal === 'BLOCKED') return ['BLOCKED', 'none']
  if (goal === 'NOT_MET') return ['PARTIAL', trust ? 'pivot' : 'rework_and_pivot']
  if (!trust) return ['PARTIAL', 'rework_trust']
  return quality ? ['SUCCESS', 'accept'] : ['PARTIAL', 'fix_quality']
}

function goalOf(asked: AskedOfOracle, said: readonly Said[], verified: number) {
  if (asked.contract === undefined) return { status: 'NO_CONTRACT', criteria: [] }
  const contract = asked.contract as Loose
  const list = Array.isArray(contract.acceptance_criteria) ? (contract.acceptance_criteria as readonly Loose[]) : []
  const sound = headIsSound(contract)
  const first = list.map((criterion, index) => {
    const twice = list.findIndex(({ id }) => id === criterion.id) < index
    const own = criterionIsSound(criterion) && !twice
    if (!own) return 'UNKNOWN'
    // What is wrong with the whole is wrong with each.
    return sound ? (isMet(criterion, said, asked.artifacts, verified) ? 'MET' : 'NOT_MET') : 'UNKNOWN'
  })
  const all = sound && first.length > 0 && first.every((status) => status === 'MET')
  const passed = all && asked.blockers.length === 0
  const criteria = first.map((status, index) => {
    const failed = asked.prior_attempts.filter(({ unmet }) => unmet.includes(String(list[index]?.id)))
    const approaches = new Set(failed.map(({ fingerprint }) => fingerprint).filter((one) => one !== undefined))
    return status !== 'MET' && typeof list[index]?.id === 'string' && approaches.size >= 2 ? 'BLOCKED' : status
  })
  const valid = sound && first.every((status) => status !== 'UNKNOWN')
  const limit = valid && typeof contract.max_goal_attempts === 'number' ? contract.max_goal_attempts : 3
  const over = asked.prior_attempts.length + 1 >= limit
  if (passed) return { status: 'MET', criteria }
  return { status: over || asked.blockers.length > 0 || criteria.includes('BLOCKED') ? 'BLOCKED' : 'NOT_MET', criteria }
}

function headIsSound(contract: Loose): boolean {
  const { version, goal_text, goal_type, max_goal_attempts: most, acceptance_criteria: list, ...rest } = contract
  const text = (value: unknown) => typeof value === 'string' && value.trim() !== ''
  return (
    Object.keys(rest).length === 0 &&
    (version === undefined || version === 1) &&
    text(goal_text) &&
    (goal_type === undefined || text(goal_type)) &&
    (most === undefined || (Number.isInteger(most) && Number(most) >= 1)) &&
    Array.isArray(list) &&
    list.length > 0
  )
}

const FIELDS = new Map(
  Object.entries({
    metric_threshold: ['metric', 'op', 'target', 'tolerance'],
    marker_required: ['marker'],
    artifact_exists: ['artifactPattern'],
    finding_count: ['minCount'],
  }),
)

function criterionIsSound(criterion: Loose): boolean {
  const fields = FIELDS.get(String(criterion.kind))
  if (fields === undefined || typeof criterion.id !== 'string' || criterion.id.trim() === '') return false
  const known = ['id', 'kind', 'description', ...fields]
  if (Object.keys(criterion).some((key) => !known.includes(key))) return false
  const number = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
  if (criterion.kind === 'finding_count') return Number.isInteger(criterion.minCount) && Number(criterion.minCount) >= 0
  if (criterion.kind === 'artifact_exists') return typeof criterion.artifactPattern === 'string'
  if (criterion.kind === 'marker_required') return typeof criterion.marker === 'string' && criterion.marker !== '*'
  const tolerance = criterion.tolerance ?? 0
  const ops = ['>=', '>', '<=', '<', '==', '!=']
  const named = typeof criterion.metric === 'string' && criterion.metric !== ''
  return (
    named &&
    ops.includes(String(criterion.op)) &&
    number(criterion.target) &&
    number(tolerance) &&
    Number(tolerance) >= 0
  )
}

function isMet(criterion: Loose, said: readonly Said[], artifacts: readonly string[], verified: number): boolean {
  if (criterion.kind === 'finding_count') return verified >= Number(criterion.minCount)
  if (criterion.kind === 'artifact_exists') {
    const glob = String(criterion.artifactPattern)
    return artifacts.some((path) => fits(glob, glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1)))
  }
  if (criterion.kind === 'marker_required') {
    const [type = '', subtype] = same(String(criterion.marker)).split(':')
    const wanted = (one: Said) => subtype === undefined || (one.subtype !== '' && fits(subtype, one.subtype))
    return said.some((one) => one.type === type && wanted(one))
  }
  const metric = said.filter(({ type, subtype }) => type === 'METRIC' && subtype === same(String(criterion.metric)))
  const actual = numberOf(metric.at(-1)?.content ?? '')
  const [target, tolerance] = [Number(criterion.target), Number(criterion.tolerance ?? 0)]
  if (actual === undefined) return false
  const off = actual > target ? actual - target : target - actual
  if (criterion.op === '==') return off <= tolerance
  if (criterion.op === '!=') return off > tolerance
  if (criterion.op === '>=') return actual >= target - tolerance
  if (criterion.op === '>') return actual > target - tolerance
  return criterion.op === '<=' ? actual <= target + tolerance : actual < target + tolerance
}

function same(word: string): string {
  return word.split('-').join('_')
}

/** Line by line, character by character. */
/** Lines between fences, and fences, as empty ones. */
function outsideFences(output: string): readonly string[] {
  let open = ''
  return output.split('\n').map((text) => {
    const marks = fenceOf(text)
    if (open !== '') {
      if (marks.startsWith(open) && text.trim() === marks) open = ''
      return ''
    }
    open = marks
    return marks === '' ? text : ''
  })
}

function fenceOf(text: string): string {
  const line = text.trimStart()
  const blanks = text.slice(0, text.length - line.length)
  const [mark = ''] = line
  if (mark === '' || blanks.length > 3 || blanks !== ' '.repeat(blanks.length) || !'`~'.includes(mark)) return ''
  let marks = mark
  while (line.startsWith(`${marks}${mark}`)) marks += mark
  const isOther = mark === '`' && line.slice(marks.length).includes('`')
  return marks.length < 3 || isOther ? '' : marks
}

function markersOf(output: string): readonly Said[] {
  return outsideFences(output).flatMap((text, index) => {
    const line = text.trim()
    const end = line.indexOf(']')
    if (!line.startsWith('[') || end < 0) return []
    const inside = line.slice(1, end)
    const colon = inside.indexOf(':')
    const type = colon < 0 ? inside : inside.slice(0, colon)
    const letters = [...type].every(
      (char) => (char >= 'A' && char <= 'Z') || (char >= '0' && char <= '9') || '_-'.includes(char),
    )
    if (!letters || type === '' || !(type.charAt(0) >= 'A') || (colon >= 0 && colon === inside.length - 1)) return []
    const words = colon < 0 ? [] : inside.slice(colon + 1).split(':')
    const subtype = words.find((word) => !word.includes('=')) ?? ''
    return [{ type: same(type), subtype: same(subtype), content: line.slice(end + 1).trim(), line: index + 1 }]
  })
}

/** JSON knows what a number is, but for a plus, a leading dot and leading zeros. */
function numberOf(content: string): number | undefined {
  const rest = content.startsWith('=') ? content.slice(1).trim() : content
  const [token = ''] = rest.split(/\s/)
  const sign = token.startsWith('-') ? -1 : 1
  let digits = '+-'.includes(token.charAt(0)) ? token.slice(1) : token
  if (digits.startsWith('.')) digits = `0${digits}`
  while (digits.length > 1 && digits.startsWith('0') && '0123456789'.includes(digits.charAt(1)))
    digits = digits.slice(1)
  if (digits === '' || !'0123456789'.includes(digits.charAt(0))) return undefined
  try {
    const value: unknown = JSON.parse(digits)
    return typeof value === 'number' && Number.isFinite(value) ? sign * value : undefined
  } catch {
    return undefined
  }
}

/** `*` and `?` within a segment, `**` + `/` over any number of them. */
function fits(glob: string, path: string): boolean {
  if (glob === '') return path === ''
  if (glob.startsWith('**/')) {
    if (fits(glob.slice(3), path)) return true
    const slash = path.indexOf('/')
    return slash >= 0 && fits(glob, path.slice(slash + 1))
  }
  const [first = '', last = ''] = [glob.charAt(0), path.charAt(0)]
  if (first === '*') return fits(glob.slice(1), path) || (path !== '' && last !== '/' && fits(glob, path.slice(1)))
  if (path === '') return false
  return (first === '?' ? last !== '/' : first === last) && fits(glob.slice(1), path.slice(1))
}

function findings(said: readonly Said[]) {
  const near = (one: Said, name: string) =>
    said.some(
      ({ type, subtype, content, line }) =>
        type === 'STAT' && subtype === name && content !== '' && line < one.line && line >= one.line - 10,
    )
  return said
    .filter(({ type }) => type === 'FINDING')
    .map((one) => ({ ci: near(one, 'ci'), effect: near(one, 'effect_size') }))
}

function penaltiesOf(said: readonly Said[], found: ReturnType<typeof findings>, profile: string): readonly number[] {
  const each = found.flatMap(({ ci, effect }) => [...(ci ? [] : [30]), ...(effect ? [] : [30])])
  if (profile !== 'ml') return each
  const names = said.filter(({ type }) => type === 'METRIC').map(({ subtype }) => subtype)
  const explained = ['feature_importance', 'top_features', 'shap', 'permutation_importance', 'interpretation']
  return [
    ...each,
    ...(names.some((name) => name.startsWith('baseline')) ? [] : [20]),
    ...(names.some((name) => name.startsWith('cv')) ? [] : [25]),
    ...(names.some((name) => explained.includes(name)) ? [] : [15]),
  ]
}
