import * as z from 'zod'
import { BY_MEANING } from './evidence-ranking.ts'

/**
 * Who answers the questions of the research chain's stages (docs/research.md, "Models"): the `extractive` model of this
 * place, which is no language model, or any configured provider. It is the place's, never a document's or a caller's.
 */
export const ResearchSettingsSchema = z
  .strictObject({
    provider: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
      .default('extractive'),
    model: z.string().min(1).max(200).default('extractive'),
    /** Of one answer, at the most; a small budget allows less. */
    max_tokens: z.int().min(64).max(100_000).default(1_024),
    /** Of one call. */
    timeout_ms: z.int().min(1_000).max(600_000).default(60_000),
    /** Further parameters of every call; temperature is 0 unless it stands here. */
    params: z.record(z.string().min(1).max(100), z.json()).default({}),
    /**
     * Where a caller that gave a `parent_loop` is told that the answer is there: POST, once, by the rules of http gates
     * (docs/research.md, "Continuation").
     */
    webhook: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
    /**
     * Ranks what words found by meaning too: a list of its own in the fusion, source `embedding`. Absent = without.
     */
    embeddings: z
      .strictObject({
        provider: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/),
        model: z.string().min(1).max(200),
        /** Best lexical hits of one search that are ranked, where the budget has room for their texts. */
        hits: z.int().min(2).max(200).default(200),
        /** Of their list in the fusion, where that of words and links has 1. `sluice graph eval --answers` measures it. */
        weight: z.number().gt(0).max(1).default(BY_MEANING),
      })
      .optional(),
    /**
     * Reads each sentence of an answer that the rules let stand beside its evidence, and may doubt it: such a sentence is
     * unsupported then. It never makes one better. One call more (docs/research.md, "The judge"). Absent = the rules alone.
     */
    judge: z
      .strictObject({
        provider: z
          .string()
          .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
          .refine((name) => name !== 'extractive', { message: 'is no language model: name another provider' }),
        model: z.string().min(1).max(200),
        /** Of its answer, at the most. */
        max_tokens: z.int().min(64).max(100_000).default(512),
        /** Further parameters of its calls; temperature is 0 unless it stands here. */
        params: z.record(z.string().min(1).max(100), z.json()).default({}),
      })
      .optional(),
    /** Ask the model what a question is after where neither keywords nor its form say so: one call more. */
    classifier_tier_3: z.boolean().default(false),
  })
  .refine(({ provider, model }) => provider === 'extractive' || model !== 'extractive', {
    path: ['model'],
    message: 'is missing: name a model of that provider',
  })
export type ResearchSettings = z.infer<typeof ResearchSettingsSchema>
