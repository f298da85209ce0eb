/** Passages of node n have the ids n * PASSAGE_SPAN + k (index-schema.ts); cut-passages.ts makes 1,200 at most. */
export const PASSAGE_SPAN = 2_048
