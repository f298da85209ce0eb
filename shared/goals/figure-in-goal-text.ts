import type { SkeletonName } from './contract-skeletons.ts'
import type { GoalContract } from './goal-contract.ts'

interface Stated {
  /** The criterion whose figure it is: a share of 1, or how many. */
  readonly id: string
  readonly is: 'share' | 'count'
  /** What the text has to call it, right beside the figure. */
  readonly named: RegExp
  readonly words: string
  /** Words that may stand between the figure and that. */
  readonly between: ReadonlySet<string>
  /** What else it may be about: a text that names one of these does not mean this criterion. */
  readonly others?: RegExp
}

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Which figure of a skeleton a goal text may state. */
const STATED: Readonly<Partial<Record<SkeletonName, Stated>>> = {
  ml_classification: {
    id: 'accurate',
    is: 'share',
    named: /^accura(?:cy|te)$/i,
    words: 'accuracy',
    between: wordSet(
      'cross-validated cross validated cv mean average test validation holdout held-out hold-out overall classification prediction predictive model in',
    ),
    others:
      /(?<![\p{L}\p{N}])(?:precision|recall|f-?\d|f-?score|au-?roc|auc|roc|rmse|mae|mse|mape|r-?2|r-?squared|sensitivity|specificity|latency|throughput|response times?|log-?loss|brier|kappa|mcc|p-?values?|perplexity|(?:balanced|top-?\s?\d+) accuracy)(?![\p{L}\p{N}])/iu,
  },
  eda: {
    id: 'insights',
    is: 'count',
    named: /^(?:things|insights?|findings?|observations?)$/i,
    words: 'things or findings',
    between: wordSet('different distinct interesting new useful verified main key or more'),
  },
  report: {
    id: 'sources',
    is: 'count',
    named: /^(?:sources?|references?|citations?)$/i,
    words: 'sources',
    between: wordSet(
      'different distinct independent cited named primary reliable credible public external good or more',
    ),
  },
}

/** The contract with the figure its goal text states, or why nobody can tell which one is meant. */
type FigureTaken =
  | { readonly ok: true; readonly contract: GoalContract }
  | { readonly ok: false; readonly problem: string }

/**
 * A skeleton with the figure of its goal text: `Reach 75% accuracy` is 0.75. One that cannot be told is a problem, never
 * another figure in silence: several figures, a number that is not read whole (`three quarters`), one of something else
 * than the criterion's metric, a change (`by 30%`), a bound from above. A text without a figure leaves that of the
 * skeleton, unless it names another metric.
 */
export function takeStatedFigure(goalText: string, type: SkeletonName, contract: GoalContract): FigureTaken {
  const text = goalText.normalize('NFKC')
  const stated = STATED[type]
  const other = stated?.others?.exec(text)?.[0]
  if (stated !== undefined && other !== undefined) {
    return { ok: false, problem: `it names "${other}", and a contract of type ${type} is about ${stated.words}` }
  }
  const { figures, unread } = figuresIn(text)
  if (unread !== undefined) return { ok: false, problem: `it states "${unread}", which is no figure that can be read` }
  const [figure] = figures
  if (figure === undefined) return { ok: true, contract }
  const value = stated === undefined || figures.length > 1 ? undefined : statedValue(text, figure, stated)
  if (stated === undefined || value === undefined) {
    const seen = figures.map(({ written }) => `"${written}"`).join(', ')
    const what = `which figure of a contract of type ${type} that is cannot be told`
    return { ok: false, problem: `it states ${seen}, and ${what}` }
  }
  return { ok: true, contract: { ...contract, acceptance_criteria: withTarget(contract, stated.id, value) } }
}

function withTarget({ acceptance_criteria }: GoalContract, id: string, value: number) {
  return acceptance_criteria.map((criterion) => {
    if (criterion.id !== id) return criterion
    return criterion.kind === 'finding_count' ? { ...criterion, minCount: value } : { ...criterion, target: value }
  }) as GoalContract['acceptance_criteria']
}

interface Figure {
  readonly written: string
  readonly value: number
  readonly isPercent: boolean
  readonly from: number
  readonly to: number
}

/** Every figure of a text, or the first thing in it that is a number and not read. */
function figuresIn(text: string): { readonly figures: readonly Figure[]; readonly unread: string | undefined } {
  const found = [...text.matchAll(FIGURE)].filter(
    ({ groups = {} }) => groups.words?.toLowerCase() !== 'one' || groups.percent !== undefined,
  )
  const figures = found.map((match) => {
    const { number, words = '', percent } = match.groups ?? {}
    const value = number === undefined ? wordsValue(words) : digitsValue(number)
    const to = match.index + match[0].length
    return {
      written: match[0].trim(),
      value: value ?? Number.NaN,
      isPercent: percent !== undefined,
      from: match.index,
      to,
    }
  })
  const bad = figures.find(({ value }) => Number.isNaN(value))
  const rest = figures.reduceRight((left, { from, to }) => `${left.slice(0, from)} ${left.slice(to)}`, text)
  return { figures, unread: bad?.written ?? UNREAD.exec(text)?.[0] ?? LEFT_OVER.exec(rest)?.[0] }
}

/** With commas between groups of three, or one for a point. */
function digitsValue(number: string): number {
  return Number(number.replace(/,(?=\d{3}(?!\d))/g, '').replace(',', '.'))
}

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const NUMBER_WORD = `(?:${[...SMALL, ...TENS].toSorted((a, b) => b.length - a.length).join('|')}|hundred)`

/** `seventy-five`, `two hundred and six`; undefined where the words are no one number. */
function wordsValue(written: string): number | undefined {
  const words = written.toLowerCase().split(/[\s-]+/)
  const at = words.indexOf('hundred')
  if (at < 0) return belowHundred(words)
  const hundreds = at === 0 ? 1 : belowHundred(words.slice(0, at))
  const more = words.slice(at + (words[at + 1] === 'and' ? 2 : 1))
  const rest = more.length === 0 ? 0 : belowHundred(more)
  return hundreds === undefined || hundreds > 9 || rest === undefined ? undefined : hundreds * 100 + rest
}

function belowHundred([first = '', second, ...more]: readonly string[]): number | undefined {
  const small = SMALL.indexOf(first)
  const tens = TENS.indexOf(first)
  if (second === undefined) return small >= 0 ? small : tens >= 0 ? 20 + 10 * tens : undefined
  const ones = SMALL.indexOf(second)
  return tens >= 0 && ones > 0 && ones < 10 && more.length === 0 ? 20 + 10 * tens + ones : undefined
}

const PERCENT = '%|percent\\b|per cent\\b|pct\\b'
/** Digits that nothing else clings to (a name as GPT-4 has none), or a run of number words. */
const FIGURE = new RegExp(
  `(?<![\\p{L}\\p{N}_.]|\\p{L}-)(?:(?<number>-?\\d+(?:[.,]\\d+)*)(?=[\\s-]?(?:${PERCENT})|(?![\\p{L}\\p{N}_]))|(?<words>${NUMBER_WORD}(?:[\\s-]+(?:(?:and|point)[\\s-]+)?${NUMBER_WORD})*)(?![\\p{L}\\p{N}_]))(?<percent>[\\s-]?(?:${PERCENT}))?`,
  'giu',
)
/** Amounts in words that are no plain number. */
const UNREAD =
  /(?<!\p{L})(?:(?:hundred|thousand|million|billion|dozen)s|thousand|million|billion|dozen|half|halves|thirds|quarters|fifths|tenths|(?:a|one)[\s-](?:third|quarter|fifth|tenth)|twice|doubled?|doubling|tripled?|tripling|percentage points?)(?!\p{L})/iu
/** Digits and per cent that belong to no figure. */
const LEFT_OVER =
  /(?<![\p{L}\p{N}_]|\p{L}-)\p{N}[\p{L}\p{N}]*|%|(?<!\p{L})(?:per ?cent|pct|prozent|procent|pour ?cent|por ciento)(?!\p{L})/iu

/** What bounds from above, and what is denied, is another comparison than the skeletons make. */
const OTHERWISE =
  /<|≤|\b(?:at most|below|under|less than|fewer than|no more than|up to|maximum|max|within|error|loss|not|never)\b|n't\b/i
const CHANGES =
  /\b(?:improv|increas|rais|boost|cut|reduc|lower|decreas|drop|gain|grow|lift|shrink|halv|doubl|fast)\p{L}*/iu

/** What stands between the name of a metric and its figure. */
const TO_FIGURE = wordSet(
  'of at least is be to should must reach reaches reaching above over exceed exceeds exceeding more than greater higher or equal minimum min a an the model classifier score > >= ≥ = :',
)

/** undefined: it is no figure of that sort, or not said of what the criterion measures. */
function statedValue(text: string, figure: Figure, { named, between, is }: Stated): number | undefined {
  const before = wordsIn(text.slice(0, figure.from)).toReversed()
  const after = wordsIn(text.slice(figure.to))
  const passed = before.findIndex((word) => !TO_FIGURE.has(word))
  const isNamed = [before[passed], after.find((word) => !between.has(word))].some((word = '') => named.test(word))
  const isChange = CHANGES.test(text) && !before.slice(0, passed < 0 ? before.length : passed).includes('to')
  return isNamed && !isChange && !OTHERWISE.test(text) ? readFigure(figure, is) : undefined
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{L}[\p{L}'-]*|>=|[>≥=:.!?;()]/gu) ?? []
}

function readFigure({ value, isPercent }: Figure, is: 'share' | 'count'): number | undefined {
  if (is === 'count') return !isPercent && Number.isInteger(value) && value >= 1 ? value : undefined
  // Without the rounding of a division: 75.3 % is 0.753.
  const share = isPercent ? Number(`${value}e-2`) : value
  return share > 0 && share <= 1 && (isPercent || share < 1) ? share : undefined
}
