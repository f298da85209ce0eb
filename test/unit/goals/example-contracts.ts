import {
  CONTRACT_SKELETONS,
  type ContractSkeleton,
  type SkeletonName,
} from '../../../shared/goals/contract-skeletons.ts'

/** A shipped contract, with evidence that meets it. */
export type ExampleContract = ContractSkeleton & { readonly output: string; readonly files: readonly string[] }

const SUPPORTED = '[STAT:ci] 95% CI [0.70, 0.80]\n[STAT:effect_size] d = 0.6\n'

const EVIDENCE: Readonly<Record<SkeletonName, Pick<ExampleContract, 'output' | 'files'>>> = {
  ml_classification: {
    output:
      '[METRIC:baseline_accuracy] 0.73\n[METRIC:cv_accuracy_mean] 0.91 (5 folds)\n[METRIC:cv_accuracy_std] 0.02\n[METRIC:feature_importance] tenure',
    files: ['models/churn.pkl'],
  },
  eda: {
    output: `[SHAPE] 5,000 rows, 12 columns\n[MISSING] 3 % of income\n${SUPPORTED}[FINDING] a\n[FINDING] b\n[FINDING] c`,
    files: ['plots/income.png'],
  },
  hypothesis_test: {
    output: `[HYPOTHESIS] It does not\n[METRIC:power] 0.83\n[STAT:p_value] 0.03\n${SUPPORTED}[FINDING] They stay 0.6 months less`,
    files: [],
  },
  report: {
    output: '[CITATION:survey-2025] "three in four"\n[METRIC:sources_cited] 7\n[LIMITATION] One country only',
    files: ['out/report.md'],
  },
}

export const EXAMPLE_CONTRACTS: readonly ExampleContract[] = Object.entries(CONTRACT_SKELETONS).map(
  ([name, skeleton]) => ({
    ...skeleton,
    // The keys of the one are those of the other: the type says so.
    ...EVIDENCE[name as SkeletonName],
  }),
)
