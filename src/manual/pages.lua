-- Tables that fit on a terminal: as wide as their cells where those leave room, else with the widest
-- columns made narrower. For man pages and for the plain text of `bullring help`.

local is_man = FORMAT == "man"
local columns = is_man and 70 or 90 -- a man page has an indentation and a margin of its own
local gap = is_man and 3 or 1       -- what is left between two columns
local pandocs = is_man and 70 or 100 -- the width that a share of 1 means to pandoc
local narrowest = 4

local function rows_of(table)
    local rows = {}
    for _, row in ipairs(table.head.rows) do rows[#rows + 1] = row end
    for _, body in ipairs(table.bodies) do
        for _, row in ipairs(body.body) do rows[#rows + 1] = row end
    end
    return rows
end

local function widths_of(table)
    local widths = {}
    for i = 1, #table.colspecs do widths[i] = 1 end
    for _, row in ipairs(rows_of(table)) do
        for i, cell in ipairs(row.cells) do
            local text = pandoc.utils.stringify(cell.contents)
            widths[i] = math.max(widths[i], utf8.len(text))
        end
    end
    return widths
end

-- A long name in a narrow column may be broken behind its marks.
local function breakable(code)
    if utf8.len(code.text) <= 14 then return nil end
    local parts = {}
    for part in code.text:gmatch("[^_/,]*[_/,]?") do
        if part ~= "" then
            if #parts > 0 then parts[#parts + 1] = pandoc.RawInline("man", "\\:") end
            parts[#parts + 1] = pandoc.Code(part)
        end
    end
    return parts
end

function Table(table)
    local widths = widths_of(table)
    local sum = gap * (#widths - 1)
    for _, width in ipairs(widths) do sum = sum + width end
    local natural = sum <= columns
    while sum > columns do
        local widest = 1
        for i, width in ipairs(widths) do
            if width > widths[widest] then widest = i end
        end
        -- More columns than fit: better too wide than torn apart.
        if widths[widest] <= narrowest then natural = true break end
        widths[widest] = widths[widest] - 1
        sum = sum - 1
    end
    for i, column in ipairs(table.colspecs) do
        table.colspecs[i] = {column[1], not natural and widths[i] / pandocs or nil}
    end
    if not is_man then return table end
    -- Where there are pages a table does not begin in the last lines of one, for which groff scolds.
    return {pandoc.RawBlock("man", ".ne 6"), pandoc.walk_block(table, {Code = breakable})}
end
