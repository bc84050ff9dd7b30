case
    when one_year is not null and other_year is not null then greatest(one_year, other_year)
end
