import * as z from 'zod'
import { LABEL_KEY, LABEL_LIMITS, LABEL_VALUE } from './labels.ts'

const KEY_RULE = 'the key of a label is a letter, then letters, digits, "_", "." and "-", 63 characters at most'

const VALUE_RULE = `the value of a label is a text of 1 to ${LABEL_LIMITS.value_characters} characters on one line, without a space at its ends`

export const LabelKeySchema = z.string().regex(LABEL_KEY, KEY_RULE)
const LabelValueSchema = z
  .string(`${VALUE_RULE}; put a number, true or false in quotes`)
  .max(LABEL_LIMITS.value_characters, VALUE_RULE)
  .regex(LABEL_VALUE, VALUE_RULE)

/** Labels wherever somebody gives them: in a document, in the settings, with a start. */
export const LabelsSchema = z
  .record(LabelKeySchema, LabelValueSchema, {
    error: (issue) => (issue.code === 'invalid_key' ? KEY_RULE : undefined),
  })
  .refine(
    (labels) => Object.keys(labels).length <= LABEL_LIMITS.labels,
    `at most ${LABEL_LIMITS.labels} labels are allowed`,
  )
