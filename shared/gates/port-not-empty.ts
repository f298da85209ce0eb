import { notEmpty } from './not-empty.ts'

/** The name existing DAG files use for not_empty. */
export const portNotEmpty: typeof notEmpty = {
  ...notEmpty,
  type: 'port_not_empty',
}
