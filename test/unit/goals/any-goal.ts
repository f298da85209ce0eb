import fc from 'fast-check'
import type { AskedOfOracle } from './oracle.ts'

/** Names few enough that criteria and evidence often meet. */
const NAMES = ['acc', 'cv_acc', 'cv-acc', 'baseline_acc', 'baseline', 'shap', 'recall'] as const
const name = fc.constantFrom(...NAMES)
const id = fc.constantFrom('A', 'B', 'C', 'D')

const criterion = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      {
        id,
        kind: fc.constant('metric_threshold'),
        metric: name,
        op: fc.constantFrom('>=', '>', '<=', '<', '==', '!='),
        target: fc.constantFrom(0, 0.5, 0.9, -1, 1e-3, 85, -0),
        tolerance: fc.constantFrom(0, 0.1, 2),
        description: fc.constant('why'),
      },
      { requiredKeys: ['id', 'kind', 'metric', 'op', 'target'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      id,
      kind: fc.constant('marker_required'),
      marker: fc.constantFrom(
        'METRIC',
        'METRIC:*',
        'METRIC:baseline*',
        'METRIC:cv_*',
        'FINDING',
        'STAT:c*i',
        'METRIC:recall',
        'NEXT-STEP',
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      id,
      kind: fc.constant('artifact_exists'),
      artifactPattern: fc.constantFrom('*.pkl', '**/*.pkl', 'out/*', 'out/**/m.pkl', 'm?pkl', 'm.pkl', '**/m.*'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ id, kind: fc.constant('finding_count'), minCount: fc.integer({ min: 0, max: 3 }) }),
  },
)

/** What a careless or hostile author makes of a criterion. */
const spoiled = fc
  .tuple(
    criterion,
    fc.constantFrom<Readonly<Record<string, unknown>>>(
      { kind: 'metric_treshold' },
      { kind: 'toString' },
      { kind: undefined },
      { target: Number.NaN },
      { target: '0' },
      { target: null },
      { op: '=>' },
      { op: 'constructor' },
      { minCount: 1.5 },
      { minCount: -1 },
      { marker: '*' },
      { extra: true },
      { id: ' ' },
      { id: 7 },
      { tolerance: -1 },
    ),
  )
  .map(([one, change]): object => ({ ...one, ...change }))

const goodHead = fc.record(
  {
    version: fc.constant(1),
    goal_text: fc.constantFrom('reach it', 'x'),
    goal_type: fc.constantFrom('eda', 'ml_classification'),
    max_goal_attempts: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ['goal_text'] },
)
const badHead = fc.constantFrom<object>(
  { goal_text: ' ' },
  { goal_text: 'x', version: 2 },
  { goal_text: 'x', version: '1' },
  { goal_text: 'x', max_goal_attempts: 0 },
  { goal_text: 'x', max_goal_attempts: 1.5 },
  { goal_text: 'x', optional: true },
  {},
)

/** Ids of their own for most contracts: the first of each. */
const criteria = fc.oneof(
  { weight: 6, arbitrary: fc.uniqueArray(criterion, { selector: (one) => one.id, minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(fc.oneof(criterion, spoiled), { maxLength: 4 }) },
)

const contract = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 9,
    arbitrary: fc
      .tuple(fc.oneof({ weight: 12, arbitrary: goodHead }, { weight: 1, arbitrary: badHead }), criteria)
      .map(([head, list]): object => ({ ...head, acceptance_criteria: list })),
  },
)

const value = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '0.95',
      '1',
      '0.91 (cv)',
      '=0.9',
      '= 0.5',
      '.9',
      '+0.95',
      '9.5e-1',
      '-1',
      '85',
      '1e3',
      '007',
      '0',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '85%',
      '1,234',
      'NaN',
      'inf',
      '-Infinity',
      '1e999',
      '',
      '=',
      'high',
      '0.9.',
      '5.',
      '0x1',
      '--1',
      '-',
      '1 000',
    ),
  },
)
const plain = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(name, fc.constantFrom('', ':folds=5', ':x'), value)
      .map(([metric, more, content]) => `[METRIC:${metric}${more}] ${content}`),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '[STAT:ci] [1, 2]\n[STAT:effect_size] 0.4\n[FINDING] x',
      '[STAT:ci] [1, 2]',
      '[STAT:effect-size] 0.4',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '[STAT:ci]',
      '[FINDING] y',
      '[FINDING:z]',
      '[NEXT_STEP] go on',
      '[METRIC:shap] age',
      'prose',
      '\n\n\n\n\n\n\n\n',
    ),
  },
)
/** The same lines where they are no markers, or hardly. */
const line = fc.oneof(
  { weight: 12, arbitrary: plain },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('> ', '"', 'so ', '- ', '  ', '\t', '\\', '[INFO] '), plain)
      .map(([before, text]) => before + text),
  },
  { weight: 1, arbitrary: plain.map((text) => text.toLowerCase()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '[METRIC:] 1',
      '[METRIC:acc 1',
      'METRIC:acc] 1',
      '[METRIC:a=b] 1',
      '[] 1',
      '[1] x',
      '[-A] x',
      '[ACC] 1',
    ),
  },
)
const output = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\n', '\r\n'))
  .map(([lines, end]) => lines.join('\n').replaceAll('\n', end))

/** One evaluation; mostly sound, so that all rows of the matrix are reached. */
export const anyGoal: fc.Arbitrary<AskedOfOracle> = fc.record({
  contract,
  output,
  artifacts: fc.array(fc.constantFrom('m.pkl', 'out/m.pkl', 'out/a/m.pkl', 'm.pkl.txt', 'M.PKL', 'out'), {
    maxLength: 3,
  }),
  trust_score: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<unknown>(80, 95, 100) },
    { weight: 2, arbitrary: fc.constantFrom<unknown>(79.9, 40, 0, -1, 100.1, null, undefined, '95', Number.NaN, true) },
  ),
  claimed_status: fc.oneof(
    { weight: 8, arbitrary: fc.constant('SUCCESS') },
    { weight: 1, arbitrary: fc.constantFrom('PARTIAL', 'BLOCKED', 'FAILED', 'ABORTED') },
  ),
  quality: fc.constantFrom('standard', 'standard', 'ml'),
  blockers: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.constant(['no data']) }),
  prior_attempts: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.record(
          { fingerprint: fc.constantFrom('f', 'g', 'h'), unmet: fc.uniqueArray(id) },
          { requiredKeys: ['unmet'] },
        ),
        { maxLength: 3 },
      ),
    },
  ),
})
