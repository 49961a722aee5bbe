import { describe, expect, it } from 'vitest'
import { splitStatements } from '../../../../src/stores/sql/schema/split-statements.ts'

describe('splitStatements', () => {
  it.each<[string, string[]]>([
    ['', []],
    [' ; ;\n', []],
    ['SELECT 1', ['SELECT 1']],
    ['SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
    [`SELECT 'a;b', 'it''s;'; SELECT 2`, [`SELECT 'a;b', 'it''s;'`, 'SELECT 2']],
    [`SELECT 'a\\'; SELECT 2`, [`SELECT 'a\\'`, 'SELECT 2']],
    [`SELECT E'a\\';b'; SELECT e'\\\\'; SELECT 3`, [`SELECT E'a\\';b'`, `SELECT e'\\\\'`, 'SELECT 3']],
    [`SELECT type'a\\'; SELECT 2`, [`SELECT type'a\\'`, 'SELECT 2']],
    ['SELECT 1 AS "a;""b"; SELECT 2', ['SELECT 1 AS "a;""b"', 'SELECT 2']],
    ['DO $$ BEGIN; END $$; SELECT 2', ['DO $$ BEGIN; END $$', 'SELECT 2']],
    ['DO $a$ ;$$;$b$; $a$; SELECT 2', ['DO $a$ ;$$;$b$; $a$', 'SELECT 2']],
    ['SELECT $1; SELECT $2', ['SELECT $1', 'SELECT $2']],
    ['SELECT a$b$c; SELECT d$b$', ['SELECT a$b$c', 'SELECT d$b$']],
    ['-- first; not\nSELECT 1; -- last;', ['SELECT 1']],
    ['SELECT 1 -- it\'s "one; $$\n + 1; SELECT 2', ['SELECT 1 -- it\'s "one; $$\n + 1', 'SELECT 2']],
    ["/* a; /* b; */ c; */ SELECT 1 /* ' */; SELECT 2", ["SELECT 1 /* ' */", 'SELECT 2']],
    ["SELECT '--'; SELECT '/*'; SELECT 3", ["SELECT '--'", "SELECT '/*'", 'SELECT 3']],
    ['SELECT 1 - -1; SELECT 4 / 2', ['SELECT 1 - -1', 'SELECT 4 / 2']],
    ['SELECT é$x$; SELECT 2', ['SELECT é$x$', 'SELECT 2']],
  ])('%s', (text, statements) => {
    expect(splitStatements(text)).toStrictEqual(statements)
  })

  it.each(['SELECT $$ a; b', 'SELECT 1; /* a /* b */'])('refuses what has no end: %s', (text) => {
    expect(() => splitStatements(text)).toThrow(/no end/)
  })
})
