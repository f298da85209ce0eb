import type { SkeletonName } from './contract-skeletons.ts'
import type { GoalContract } from './goal-contract.ts'

/** Which figure of a skeleton a goal text states, and what it is: a share of 1, or how many. */
const STATED: Readonly<Partial<Record<SkeletonName, { readonly id: string; readonly is: 'share' | 'count' }>>> = {
  ml_classification: { id: 'accurate', is: 'share' },
  eda: { id: 'insights', is: 'count' },
  report: { id: 'sources', is: 'count' },
}

/** The contract with the figure its goal text states, or why nobody can tell which one is meant. */
export type FigureTaken =
  | { readonly ok: true; readonly contract: GoalContract }
  | { readonly ok: false; readonly problem: string }

/**
 * A skeleton with the figure of its goal text: `Reach 75% accuracy` is 0.75. One that cannot be told (several figures, one
 * that is a bound from above, one the skeleton has no place for) is a problem, never another figure in silence; a text
 * without a figure leaves that of the skeleton.
 */
export function withFigureOf(goalText: string, type: SkeletonName, contract: GoalContract): FigureTaken {
  const figures = figuresIn(goalText)
  const [figure] = figures
  if (figure === undefined) return { ok: true, contract }
  const stated = STATED[type]
  const value = stated === undefined ? undefined : readFigure(figure, stated.is)
  if (stated === undefined || figures.length > 1 || value === undefined || UPPER.test(goalText)) {
    const seen = figures.map(({ written }) => `"${written}"`).join(', ')
    return {
      ok: false,
      problem: `it states ${seen}, and which figure of a contract of type ${type} that is cannot be told`,
    }
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
}

function figuresIn(text: string): readonly Figure[] {
  return [...text.matchAll(FIGURE)].map((match) => {
    const { number = '', word = '', percent } = match.groups ?? {}
    const value =
      word === ''
        ? Number(number.replace(/,(?=\d{3}(?!\d))/g, '').replace(',', '.'))
        : WORDS.indexOf(word.toLowerCase()) + 2
    return { written: match[0].trim(), value, isPercent: percent !== undefined }
  })
}

/** `one` is mostly no number. */
const WORDS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
const FIGURE = new RegExp(
  `(?<![\\w.])(?:(?<number>-?\\d+(?:[.,]\\d+)*)|(?<word>${WORDS.join('|')})\\b)(?<percent>\\s?(?:%|percent\\b|per cent\\b))?`,
  'giu',
)
/** What bounds from above is another comparison than the skeletons make. */
const UPPER =
  /<|\b(?:at most|below|under|less than|fewer than|no more than|not more than|up to|maximum|max|within|error|loss)\b/i

/** undefined = it is no figure of that sort. */
function readFigure({ value, isPercent }: Figure, is: 'share' | 'count'): number | undefined {
  if (is === 'count') return !isPercent && Number.isInteger(value) && value >= 1 ? value : undefined
  // Without the rounding of a division: 75.3 % is 0.753.
  const share = isPercent ? Number(`${value}e-2`) : value
  return share > 0 && share <= 1 && (isPercent || share < 1) ? share : undefined
}
